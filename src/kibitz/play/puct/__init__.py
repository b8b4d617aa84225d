"""PUCT: a tree search that follows the policy and averages values, the same for every game.

`tree.py` has the tree as flat arrays and its kernels. `chess.py` and `go.py` have the rules of each game. `player.py`
chooses chess moves with it.
"""
