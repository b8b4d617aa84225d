"""The engines with which other programs use kibitz. They implement the protocols UCI for chess and GTP for Go."""
