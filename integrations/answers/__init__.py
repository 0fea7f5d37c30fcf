"""What strangers are told of known problems: where they stand, and what the page's owner answers."""
