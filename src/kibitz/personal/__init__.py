"""`kibitz personal`: a network that plays like one person, trained on that person's games of chess or Go.

`names` finds the person, `games` collects the games, `book` counts the person's moves, `adapter` has the trainable
layers, `shares` computes move probabilities, and `fitting` makes the run. The packages `chess` and `go` have the
game-specific parts: `positions` has the positions in which the person moved, with the moves, `system` has the network,
and `answers` corrects the network's outputs with the book. `fitting` uses these packages through their modules `kind`.
"""
