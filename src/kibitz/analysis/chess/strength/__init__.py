"""Estimate a rating with its interval from a player's moves.

`likelihoods` computes how likely the moves are for players of several ratings, with `human`. `estimate` turns these
likelihoods into a rating. `player` collects a player's games.
"""
