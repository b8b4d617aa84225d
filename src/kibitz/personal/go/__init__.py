"""What making a person's network asks of Go: positions and moves, the network, the book's say."""
