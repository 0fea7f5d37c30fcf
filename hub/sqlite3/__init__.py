"""Django's SQLite backend, for threads that wait for one another."""
