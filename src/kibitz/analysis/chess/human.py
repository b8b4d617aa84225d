"""What `human` says of a position: see movers.py. It is told the players' ratings, the speed and the last moves."""

from kibitz.analysis import Claim
from kibitz.analysis.chess.movers import expected_moves as expected_moves
from kibitz.analysis.chess.movers import white_wins as white_wins

claim = Claim(name="White's expected score", short="White scores")
