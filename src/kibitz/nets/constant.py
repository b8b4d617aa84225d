"""Baselines for the losses of networks. A baseline is the smallest loss of a constant prediction, which predicts the
same for all positions. If a network's loss isn't smaller than the baseline, the network has learned nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor


def of_shares(target: Tensor) -> Tensor:
    """Return the smallest binary cross entropy of a constant prediction, in nats. The constant is the mean of each
    column.

    target: float [n] or [n, columns], 0 to 1. The result is a scalar: the mean over the rows, summed over the columns.
    It is 0 if there are no rows.
    """
    if not len(target):
        return torch.zeros(())
    share = target.float().view(len(target), -1).mean(0).clamp(1e-6, 1 - 1e-6)
    return -(share * share.log() + (1 - share) * (1 - share).log()).sum()


def of_labels(labels: Tensor) -> Tensor:
    """Return the smallest cross entropy of a constant prediction, in nats. The constant is the frequency of each class.
    labels: the classes, int64 [n]. The result is a scalar; 0 if there are no labels.
    """
    share = torch.bincount(labels).float() / max(1, len(labels))
    entropy: Tensor = -torch.special.xlogy(share, share).sum()
    return entropy


def of_values(target: Tensor) -> Tensor:
    """Return the smallest mean squared error of a constant prediction. The constant is the mean of each column.

    target: float [n] or [n, columns]. The result is a scalar: the mean over rows and columns. It is 0 if there are no
    rows.
    """
    if not len(target):
        return torch.zeros(())
    return target.float().view(len(target), -1).var(0, correction=0).mean()
