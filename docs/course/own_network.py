"""A network of your own: does the player to move win? Usage: python own_network.py STORE [POSITIONS]"""

import sys

import torch
from torch import nn

import kibitz
from kibitz.datasets import PositionBatches, make_planes

path, count = sys.argv[1], int((sys.argv[2:] or ["100000"])[0])
torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(12, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 1)
)
optimizer = torch.optim.AdamW(network.parameters(), lr=0.002)


def logits_and_target(batch: dict) -> tuple[torch.Tensor, torch.Tensor]:
    decisive = batch["result"] != 0
    planes = torch.from_numpy(make_planes(batch["codes"][decisive]))
    return network(planes)[:, 0], torch.from_numpy((batch["result"][decisive] > 0).astype("float32"))


for _, batch in zip(range(count // 500), PositionBatches(path, part="training", batch=500), strict=False):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(*logits_and_target(batch)).backward()
    optimizer.step()
test = next(iter(PositionBatches(path, part="test", batch=1000)))
with torch.no_grad():
    logits, target = logits_and_target(test)
accuracy = kibitz.ClusterBootstrap(test["game"][test["result"] != 0]).mean(((logits > 0) == (target > 0.5)).numpy())
print(f"{accuracy.value:.1%} ({accuracy.low:.1%} to {accuracy.high:.1%}) of {accuracy.n:,} unseen positions")
