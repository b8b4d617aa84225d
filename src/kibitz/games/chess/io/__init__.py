"""Chess records: PGN text found, parsed, filtered and packed into batches."""
