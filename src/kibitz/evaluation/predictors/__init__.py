"""External engines as predictors of moves: `kibitz test STORE --engine "COMMAND"`.

Any UCI or GTP engine is measured on the positions of a store: how often its best moves were played, and the log loss
if it prints a probability for each move. A network of kibitz can be measured on the same positions.
"""

from kibitz.evaluation.predictors.evaluator import EngineTest, RatedEngine, evaluate_engines

__all__ = ["EngineTest", "RatedEngine", "evaluate_engines"]
