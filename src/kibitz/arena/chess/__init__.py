"""Play chess matches: engines that use the protocol UCI, openings, single games, and their PGN."""
