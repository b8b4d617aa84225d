"""The Go part of personal networks: positions and moves, the network, the book's correction."""
