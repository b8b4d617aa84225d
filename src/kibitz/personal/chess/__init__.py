"""What making a person's network asks of chess: positions and moves, the network, the book's say."""
