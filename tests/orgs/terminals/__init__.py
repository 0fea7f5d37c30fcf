"""Sign-in from a terminal."""
