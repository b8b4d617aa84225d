"""`kibitz personal`: train a network that plays like one person, on that person's games of chess or Go.

`names` finds the person, `games` collects the games, `book` counts the person's moves, and `adapter` has the trainable
layers. `shares` computes move probabilities, and `fitting` trains the network. The packages `chess` and `go` have the
parts that depend on the game. In them, `positions` has the positions in which the person moved, and `system` has the
network. `answers` corrects the network's outputs with the person's opening book. `fitting` uses these packages through
their modules `kind`.
"""
