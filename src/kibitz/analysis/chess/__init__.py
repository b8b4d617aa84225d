"""Analyze chess games, move by move."""
