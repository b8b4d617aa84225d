"""Tests of external engines as predictors of players' moves, for `kibitz test STORE --engine "COMMAND"`.

Any UCI or GTP engine can be tested on the positions of a store. The test measures how often the engine's best moves
were played. If the engine prints a probability for each move, the test also measures the log loss. A kibitz network can
be tested on the same positions.
"""

from kibitz.evaluation.predictors.evaluator import EngineTest, RatedEngine, evaluate_engines

__all__ = ["EngineTest", "RatedEngine", "evaluate_engines"]
