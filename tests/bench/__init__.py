"""Timings, side by side: the Hub under its own production server, and what others would build."""
