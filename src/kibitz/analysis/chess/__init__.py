"""Analysis of chess games."""
