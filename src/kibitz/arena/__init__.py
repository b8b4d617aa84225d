"""Play matches between two engines, and compute their statistics. The package contains players, openings, games,
records of games, and results.
"""
