"""Go records: find games in SGF files, parse and filter them, and pack them into batches."""
