"""The moves played in a position, over all games of a store: an index by position, its results, and opening names."""
