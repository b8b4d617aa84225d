"""The strength that a player's moves look like: a rating with its interval, from the likelihood of the moves.

`likelihoods` evaluates how likely `human` finds the moves for players of several ratings. `estimate` turns these
likelihoods into a rating. `player` collects a player's games.
"""
