"""The maintainers' API: tokens and scopes for all calls, and the calls about domains."""
