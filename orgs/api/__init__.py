"""Bearer tokens and their scopes."""
