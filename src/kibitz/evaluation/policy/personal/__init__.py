"""The evaluation of `personal`: how well a personal network predicts the person's newest moves."""

from kibitz.evaluation.policy.personal.evaluator import evaluate

__all__ = ["evaluate"]
