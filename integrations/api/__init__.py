"""The maintainers' API, and the public receipts."""
