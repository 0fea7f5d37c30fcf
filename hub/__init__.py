"""The project: settings, addresses, commands, maintenance."""
