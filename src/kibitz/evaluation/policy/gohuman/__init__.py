"""The evaluation of `gohuman`."""

from kibitz.evaluation.policy.gohuman.evaluator import eligible, evaluate, measure_rows, row_questions

__all__ = ["eligible", "evaluate", "measure_rows", "row_questions"]
