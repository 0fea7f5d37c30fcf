"""What an operator still has to set up: each file asks about one concern."""
