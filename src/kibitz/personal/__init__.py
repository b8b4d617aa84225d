"""`kibitz personal`: a network that plays like one person, trained on that person's games of chess or Go.

`names` finds the person, `games` collects the games, `book` counts the person's moves, `adapter` has the trainable
layers, `shares` computes move probabilities, and `fitting` makes the run. The packages `chess` and `go` have the
game-specific parts: the positions and their moves (`asked`), the network (`system`), and the book's correction of its
outputs (`answers`). `kind` is their interface for `fitting`.
"""
