"""Search for settings: spaces, trials, and their journal."""
