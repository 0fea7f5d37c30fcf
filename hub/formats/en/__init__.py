"""In English, the one language of the Hub's pages."""
