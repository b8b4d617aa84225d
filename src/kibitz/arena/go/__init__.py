"""Go matches: GTP programs, openings, one game, the referee, its SGF."""
