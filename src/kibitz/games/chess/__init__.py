"""Chess: the rules, reading PGN, computing positions from moves, and network inputs (planes).

Squares are numbered a1 = 0, b1 = 1, … h8 = 63. A position's `codes`, uint8 [64], are the pieces on the squares: 0
empty, 1-6 White's P N B R Q K, 7-12 Black's. Its `state`, uint8 [4], has the side to move, castling rights, en-passant
file and fifty-move clock (see `replay`).
"""
