"""Games of an account on lichess, chess.com or OGS. They are downloaded once, saved, and written as a file of
records.
"""
