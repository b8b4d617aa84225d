"""kibitz import."""
