"""Training: the loop that all systems share, and the run directory that it writes."""
