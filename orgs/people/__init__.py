"""Members, sign-in, sessions and tokens."""
