"""Keeps up with GitHub: by webhook, and by asking once an hour."""
