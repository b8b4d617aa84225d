"""The chess engine, which implements the protocol UCI."""
