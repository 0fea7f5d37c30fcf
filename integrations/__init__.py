"""Delivers reports to GitHub; its admin and commands."""
