"""The evaluation of `personal`: how well a network of one person tells that person's newest moves."""

from kibitz.evaluation.policy.personal.evaluator import evaluate

__all__ = ["evaluate"]
