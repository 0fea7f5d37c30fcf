"""Claims of sites, and who has push access."""
