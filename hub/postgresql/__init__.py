"""PostgreSQL behind a pool that gets over a restart."""
