"""`kibitz personal`: a network that plays like one person, from that person's own games.

`names` finds the person, `games` gathers the games, `book` counts the person's moves, `system` has the network with
adapters, `shares` says how probable each move is, and `fitting` puts a run together. Chess so far: what is of the game
stands in `games`, `book` and `system`.
"""
