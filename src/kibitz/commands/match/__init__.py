"""kibitz match."""
