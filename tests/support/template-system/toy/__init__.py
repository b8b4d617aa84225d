"""What kibitz must know of the system without PyTorch."""

from kibitz.games.chess.planes import WHITE_AND_BLACK, signed
from kibitz.systems.declaration import VALUE, VALUE_NEGAMAX, Declaration, Meaning


def planes(settings, codes, state):
    """What the network is given, by name, for the board's tab "Planes"."""
    return signed(codes, WHITE_AND_BLACK)


DECLARATION = Declaration(
    name="toy",
    game="chess",
    title="who wins, by counting?",
    module="toy.network",
    planes="toy:planes",
    answers=(VALUE,),
    evaluation="kibitz.evaluation.positions.evaluator",
    meaning=Meaning("White's chance by counting", "by counting"),
    methods=(VALUE_NEGAMAX,),
)
