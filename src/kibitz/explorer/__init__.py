"""What was played in a position, over all games of a store: an index by position, its answers, and opening names."""
