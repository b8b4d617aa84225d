"""Find the moves that were played in a position, over all games of a store (kibitz's compact database of games). The
package contains an index by position, queries, and the names of chess openings.
"""
