"""Losses of the best constant answers, which a network that has learned nothing reaches."""

from __future__ import annotations

import torch
from torch import Tensor


def of_shares(target: Tensor) -> Tensor:
    """Mean binary cross entropy, in nats, of answering each column of a target in [0, 1] by its mean, summed over the
    columns. target: float [n] or [n, columns]. Scalar; 0 of no rows."""
    if not len(target):
        return torch.zeros(())
    share = target.float().view(len(target), -1).mean(0).clamp(1e-6, 1 - 1e-6)
    return -(share * share.log() + (1 - share) * (1 - share).log()).sum()


def of_labels(labels: Tensor) -> Tensor:
    """Mean cross entropy, in nats, of answering class labels int64 [n] by how often each occurs. Scalar."""
    share = torch.bincount(labels).float() / max(1, len(labels))
    entropy: Tensor = -torch.special.xlogy(share, share).sum()
    return entropy


def of_values(target: Tensor) -> Tensor:
    """Mean squared error of answering each column by its mean, averaged over columns. target: float [n] or [n,
    columns]. Scalar; 0 of no rows."""
    if not len(target):
        return torch.zeros(())
    return target.float().view(len(target), -1).var(0, correction=0).mean()
