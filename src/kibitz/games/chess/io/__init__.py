"""Chess game records: find PGN games in text, parse and filter them, and pack them into batches."""
