"""The project: settings, URLs, commands, maintenance."""
