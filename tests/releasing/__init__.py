"""What a release writes into the repository: its number everywhere, and its date into the CHANGELOG."""
