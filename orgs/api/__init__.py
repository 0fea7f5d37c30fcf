"""The maintainers' API: tokens, scopes, and the calls about domains."""
