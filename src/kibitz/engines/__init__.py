"""kibitz as an engine for other programs, by the protocols UCI for chess and GTP for Go."""
