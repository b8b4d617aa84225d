"""kibitz analyze."""
