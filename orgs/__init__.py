"""Organizations: who owns a page."""
