"""Analyze Go games, move by move."""
