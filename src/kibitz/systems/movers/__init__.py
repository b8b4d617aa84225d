"""The systems that predict moves: what `convchess` and `chessnet` share."""
