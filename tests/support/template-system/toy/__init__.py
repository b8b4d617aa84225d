"""The declaration of the system, which kibitz reads without PyTorch."""

from kibitz.games.chess.planes import WHITE_AND_BLACK, signed
from kibitz.systems.declaration import VALUE, VALUE_NEGAMAX, Declaration, Meaning


def planes(settings, codes, state):
    """Return the input planes by name, for "What it sees" on the page of the board."""
    return signed(codes, WHITE_AND_BLACK)


DECLARATION = Declaration(
    name="toy", game="chess", title="who wins, by counting?", module="toy.network", planes="toy:planes",
    answers=(VALUE,), evaluation="kibitz.evaluation.positions.evaluator", methods=(VALUE_NEGAMAX,),
    meaning=Meaning("White's chance by counting", "by counting"),
)  # fmt: skip
