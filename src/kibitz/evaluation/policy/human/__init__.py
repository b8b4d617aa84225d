"""The evaluation of `human`, a network that predicts the moves of players by their ratings, and their results."""

from kibitz.evaluation.policy.human.evaluator import evaluate

__all__ = ["evaluate"]
