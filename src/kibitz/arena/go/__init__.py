"""Play Go matches: programs that use the protocol GTP, openings, single games, the scoring of final positions, and
SGF.
"""
