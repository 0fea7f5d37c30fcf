"""Sign-in from a terminal: the OAuth 2.0 device flow (RFC 8628)."""
