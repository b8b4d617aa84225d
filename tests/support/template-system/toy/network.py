"""One weight for each piece: logistic regression on the difference in material."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from kibitz.games.chess.encodings import SignedPlanes
from kibitz.games.chess.replay import SIDE
from kibitz.systems.base import Recipe, Stage, System, setting
from kibitz.systems.winner import OutcomeExamples


@dataclass(frozen=True)
class Settings:
    learning_rate: float = setting(0.05, "Learning rate.", over=0)
    batch: int = setting(256, "Number of positions per batch.", at_least=1)
    iterations: int = setting(60, "Number of batches.", at_least=1)


class Counting(nn.Module):
    outputs = ("white_wins", "value")  # see kibitz.systems.declaration.OUTPUTS
    side_inputs = {}

    def __init__(self):
        super().__init__()
        self.planes, self.weights = SignedPlanes(side=False), nn.Linear(6, 1)

    def logit(self, codes):
        return self.weights(self.planes(codes, codes).sum((2, 3)))[:, 0]

    def forward(self, codes, state):
        white = torch.sigmoid(self.logit(codes).float())
        return white, (2 * white - 1) * (1 - 2 * state[:, SIDE].float())


class ToySystem(System):
    name = "toy"
    settings_type = Settings
    recipes = {"default": Recipe("sixty batches")}

    def network(self, settings):
        return Counting()

    def stages(self, network, settings):
        def loss(batch):
            logit = network.logit(batch["codes"])
            each = F.binary_cross_entropy_with_logits(logit, batch["target"], reduction="none")
            return each.mean(), {"loss": each.detach()}

        stage = Stage(
            name="toy", module=network, examples=OutcomeExamples, loss=loss, batch=settings.batch,
            iterations=settings.iterations, learning_rate=lambda iteration, iterations: settings.learning_rate,
            optimiser=lambda: torch.optim.AdamW(network.parameters()),
        )  # fmt: skip
        return [stage]


SYSTEM = ToySystem()
