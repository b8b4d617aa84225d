"""The test of the system (kind of network) `gohuman`, which predicts moves, winner, territory and score in Go."""

from kibitz.evaluation.policy.gohuman.evaluator import eligible, evaluate, measure_rows, row_questions

__all__ = ["eligible", "evaluate", "measure_rows", "row_questions"]
