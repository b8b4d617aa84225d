"""External engines as predictors of moves: `kibitz test STORE --engine "COMMAND"`.

Any UCI or GTP engine can be tested on the positions of a store: the test measures how often its best moves were played,
and the log loss if the engine prints a probability for each move. A kibitz network can be tested on the same positions.
"""

from kibitz.evaluation.predictors.evaluator import EngineTest, RatedEngine, evaluate_engines

__all__ = ["EngineTest", "RatedEngine", "evaluate_engines"]
