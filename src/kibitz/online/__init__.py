"""Download the games of an account on lichess, chess.com or OGS. Each game is downloaded only once and saved. The
result is a file of game records.
"""
