"""What `convchess` says of a position: see movers.py."""

from kibitz.analysis.chess.movers import claim as claim
from kibitz.analysis.chess.movers import expected_moves as expected_moves
from kibitz.analysis.chess.movers import white_wins as white_wins
