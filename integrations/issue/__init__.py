"""Turns a report into the title and body of an issue, safe to read."""
