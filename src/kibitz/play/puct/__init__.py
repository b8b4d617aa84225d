"""PUCT: a tree search that visits moves by their predicted probabilities and averages the values of the visited
positions. The search is the same for chess and Go.

`tree.py` has the tree as flat arrays, and compiled functions for it. `chess.py` and `go.py` have the rules of each
game. `player.py` chooses chess moves with the search.
"""
