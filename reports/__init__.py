"""Takes reports in: each is stored once, without secrets."""
