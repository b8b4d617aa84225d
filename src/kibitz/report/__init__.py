"""HTML pages with results: the page of a test, and the page about a player's games, with their diagrams and boards."""
