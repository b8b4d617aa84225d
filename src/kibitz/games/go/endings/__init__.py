"""The end of a Go game: dead stones, the owner of each point, and the score."""
