"""Choosing Go moves from predicted owners."""
