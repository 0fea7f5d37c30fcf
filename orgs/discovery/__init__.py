"""What a claimed host publishes for agents: the texts to publish, and what is found there."""
