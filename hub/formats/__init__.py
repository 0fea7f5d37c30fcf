"""How times are written where nothing else is said: as ISO 8601 has it, with the zone."""
