"""Analysis of Go games."""
