"""What `chessnet` says of a position: see movers.py."""

from kibitz.analysis.movers import claim as claim
from kibitz.analysis.movers import expected_moves as expected_moves
from kibitz.analysis.movers import white_wins as white_wins
