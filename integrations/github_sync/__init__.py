"""Keeping up with GitHub: webhooks, and asking once an hour."""
