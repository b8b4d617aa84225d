"""Games of an account on lichess, chess.com or OGS: downloaded once, kept, and written as a file of records."""
