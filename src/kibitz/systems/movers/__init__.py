"""The shared parts of `convchess` and `chessnet`, which predict moves."""
