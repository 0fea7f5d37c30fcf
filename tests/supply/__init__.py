"""What the project is built on: its locks, the licenses of what is in them, and bills of materials."""
