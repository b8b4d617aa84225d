"""Go matches: programs that speak GTP, openings, one game, who counts it, its SGF."""
