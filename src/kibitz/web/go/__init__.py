"""The Go part of the board's server: lines of moves, and files."""
