"""Chess: reading PGN, replaying games, planes.

Squares are numbered a1 = 0, b1 = 1, … h8 = 63. Codes on squares: 0 empty, 1-6 White's P N B R Q K, 7-12 Black's.
"""
