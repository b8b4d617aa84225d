"""The evaluation of `human`, a network that predicts the moves of players by their ratings, and their results."""

from kibitz.evaluation.policy.human.evaluator import eligible, evaluate, measure_rows, row_questions

__all__ = ["eligible", "evaluate", "measure_rows", "row_questions"]
