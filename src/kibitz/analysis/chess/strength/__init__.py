"""Estimate a player's rating, with an interval, from the player's moves.

`likelihoods` uses the network `human` to compute how likely the moves are for players of several ratings. `estimate`
converts these likelihoods to a rating. `player` collects a player's games.
"""
