"""The evaluation of `gohuman`."""

from kibitz.evaluation.policy.gohuman.evaluator import evaluate

__all__ = ["evaluate"]
