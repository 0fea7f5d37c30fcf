"""Registering the Hub's GitHub App from a manifest: the page with the button, and the file of its keys."""
