"""A report becomes the title and body of an issue, safe to read."""
