"""Claims of domains: made, proved by DNS, checked again."""
