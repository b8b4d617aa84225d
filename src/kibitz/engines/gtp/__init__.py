"""The Go engine, which implements the protocol GTP. Each group of GTP commands has a module."""
