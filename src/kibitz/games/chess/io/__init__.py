"""Read chess game records: find the PGN games in a text, parse and filter them, and pack them into arrays."""
