"""Matches between engines: players, openings, games, what came out, and how sure it is."""
