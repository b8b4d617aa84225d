"""Go records: SGF found, parsed, filtered and packed into batches."""
