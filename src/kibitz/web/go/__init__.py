"""Go on the board's server: lines of moves, and files."""
