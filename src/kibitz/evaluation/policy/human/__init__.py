"""The test of the system (kind of network) `human`, a network that predicts moves and results from the players'
ratings.
"""

from kibitz.evaluation.policy.human.evaluator import eligible, evaluate, measure_rows, row_questions

__all__ = ["eligible", "evaluate", "measure_rows", "row_questions"]
