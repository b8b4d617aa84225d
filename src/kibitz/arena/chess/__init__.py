"""Chess matches: engines that speak UCI, openings, one game, its PGN."""
