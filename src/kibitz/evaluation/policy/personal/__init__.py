"""The test of personal networks: how well a network predicts one person's newest moves."""

from kibitz.evaluation.policy.personal.evaluator import evaluate

__all__ = ["evaluate"]
