"""Read Go game records: find the games in SGF files, parse and filter them, and pack them into arrays."""
