"""PUCT: a tree search that follows the policy and believes averages of values, the same for every game.

`tree.py` is the tree as flat arrays and the kernels that walk it; `chess.py` is what it needs of chess; `player.py`
chooses moves with it.
"""
