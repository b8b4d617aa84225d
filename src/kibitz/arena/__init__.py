"""Matches between engines: players, openings, games, results and their statistics."""
