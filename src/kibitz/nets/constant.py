"""The loss of the best constant prediction, for each kind of loss. If a network's loss is not smaller, the network has
learned nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor


def of_shares(target: Tensor) -> Tensor:
    """Return the loss of the best constant prediction: the binary cross entropy, in nats, of predicting the mean of
    each column. It is averaged over the rows and summed over the columns.

    target: float [n] or [n, columns], 0 to 1. Returns a scalar; 0 if there are no rows.
    """
    if not len(target):
        return torch.zeros(())
    share = target.float().view(len(target), -1).mean(0).clamp(1e-6, 1 - 1e-6)
    return -(share * share.log() + (1 - share) * (1 - share).log()).sum()


def of_labels(labels: Tensor) -> Tensor:
    """Return the loss of the best constant prediction: the mean cross entropy, in nats, of predicting the frequency of
    each class. labels: int64 [n]. Returns a scalar.
    """
    share = torch.bincount(labels).float() / max(1, len(labels))
    entropy: Tensor = -torch.special.xlogy(share, share).sum()
    return entropy


def of_values(target: Tensor) -> Tensor:
    """Return the loss of the best constant prediction: the squared error of predicting the mean of each column,
    averaged over rows and columns.

    target: float [n] or [n, columns]. Returns a scalar; 0 if there are no rows.
    """
    if not len(target):
        return torch.zeros(())
    return target.float().view(len(target), -1).var(0, correction=0).mean()
