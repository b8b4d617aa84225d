"""Result pages: the page of a test, the page of a player's games, and their diagrams and boards."""
