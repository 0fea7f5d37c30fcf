"""Claims of sites, and who still has push access."""
