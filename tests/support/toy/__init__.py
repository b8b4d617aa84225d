"""A system that another package brings: what it declares. With `network.py` beside it that is all of it."""

from kibitz.systems.declaration import VALUE, VALUE_NEGAMAX, Declaration, Meaning

DECLARATION = Declaration(
    name="toy",
    game="chess",
    title="who wins, by counting?",
    module="toy.network",
    planes="toy.planes:planes",
    answers=(VALUE,),
    evaluation="kibitz.evaluation.positions.evaluator",
    meaning=Meaning("White's chance by counting", "by counting"),
    methods=(VALUE_NEGAMAX,),
)
