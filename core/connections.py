"""The database connection of this thread, while something slow is waited for."""

from django.db import connection


def give_back() -> None:
    """Give the connection back to the pool of PostgreSQL. SQLite's is only a file that stays open."""
    if connection.vendor == "postgresql":
        connection.close()
