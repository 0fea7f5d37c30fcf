"""Passes requests to Django: an event loop waits for clients, threads do the work."""
