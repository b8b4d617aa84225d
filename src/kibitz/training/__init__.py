"""Training: the loop that all systems share, the run it leaves behind, and figures with their intervals."""
