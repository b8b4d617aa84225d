"""The moves that were played in a position, over all games of a store: an index by position, queries, and opening
names.
"""
