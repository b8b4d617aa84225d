"""The system (kind of network) `deepchess`: predicts which of two positions is better for White, and plays chess with
this comparison alone.

The method is from "DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess" (David, Netanyahu and
Wolf 2016). This file follows a summary of the paper: positions, encoding, Pos2Vec (the network that computes features),
pairs and comparison, distillation. The search, which compares positions instead of numbers, is in
kibitz.play.comparison.player.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.encodings import PieceBits
from kibitz.games.chess.replay import flip_files, swap_colours
from kibitz.nets import constant
from kibitz.nets.muon import Muon
from kibitz.nets.optim import learning_rate_at, make_optimiser
from kibitz.nets.sparse import BitsLinear
from kibitz.store.sampling import Sample, sample_positions, splitmix64
from kibitz.store.store import Store
from kibitz.systems.base import (
    BF16_IF_FAST,
    OPTION_OFF,
    Arrays,
    Recipe,
    Stage,
    System,
    Tensors,
    document,
    fraction,
    ours,
    reading,
    setting,
)
from kibitz.text import either, number_of

PARTS = ("both", "full", "distilled")
_OPTIMISERS, _SCHEDULES = ("sgd", "adamw", "muon"), ("epoch", "cosine")
"""The optimizers and schedules of `nets.optim` that the settings offer."""
MIN_GAMES_WON = 10
"""The smallest number of training games that White must have won, and that Black must have won."""
N_REFERENCES = 64
MAX_SAMPLES_BACK = 16
"""The largest distance of a position from a later one, for the pairs of the setting `nearer`. It is counted in sampled
positions of the game. The limit applies to the later position and the game's last one, and to the two positions of a
pair.
"""
SAME_GAME_WEIGHT = 0.5
"""The weight of pairs of positions from the same game in the loss; see the setting `nearer`."""


@dataclass(frozen=True)
class Settings:
    """The settings of `deepchess`. The defaults are the values in a summary of the paper, or kibitz's choice if it
    states none. Additions of kibitz are off. `kibitz systems deepchess` prints the source of each value.
    """

    # positions: 10 of each decisive game, not from the first 5 moves, not after a capture. The summary
    # names 100,000 positions of each side for validation; a percentage of each game is our choice.
    positions: int = setting(10, "Number of positions sampled from each game; 0 takes all suitable ones.", at_least=0)
    opening: int = setting(5, "Number of moves by each side to skip at the beginning of a game.", at_least=0)
    captures: bool = setting(False, "Sample positions after captures, too.")
    held_out: float = setting(
        10.0,
        "Percent of each game's positions that are kept out of training, for a split by position.",
        at_least=0,
        below=100,
    )
    colours: bool = setting(False, "Swap the colors and the result in half of the samples.")
    mirror: bool = setting(False, "Exchange left and right in half of the samples that have no castling rights.")
    # networks
    networks: str = setting(
        "both",
        "Networks to train; full: only the full network; both: also a small network, distilled from the full one.",
        choices=("both", "full"),
    )
    pos2vec: str = setting("600.400.200.100", "Layer sizes of Pos2Vec, after the 773 input bits.")
    compare: str = setting("400.200.100", "Layer sizes of DeepChess, between the two embeddings and the output.")
    small_pos2vec: str = setting("100.100.100", "Layer sizes of the distilled network's Pos2Vec.")
    small_compare: str = setting(
        "100.100", "Layer sizes of the distilled network, between the two embeddings and the output."
    )
    antisymmetric: bool = setting(
        False,
        "Average the outputs for both orders of the two positions, so that swapped positions give the swapped output.",
    )
    # Pos2Vec, layer by layer
    pretrain_epochs: float = setting(
        200.0, "Number of pretraining epochs for each layer of Pos2Vec; 0 skips pretraining.", at_least=0
    )
    pretrain_rate: float = setting(0.005, "Learning rate in the first pretraining epoch of each layer.", over=0)
    pretrain_decay: float = setting(
        0.98, "Number that multiplies the learning rate after each pretraining epoch.", over=0, at_most=1
    )
    # DeepChess
    epochs: float = setting(
        100.0, "Number of epochs for DeepChess, each with new pairs; 0 skips this training.", at_least=0
    )
    pairs: int = setting(1_000_000, "Number of new pairs per epoch.", at_least=1)
    pairs_a_position: float = setting(
        0.0,
        "Maximum number of pairs per position in an epoch, which makes the epochs of small stores shorter; 0"
        " means no limit.",
        at_least=0,
    )
    reuse: int = setting(1, "Number of pairs that each position forms with other positions of its batch.", at_least=1)
    nearer: bool = setting(
        False,
        "To teach progress in won positions, add pairs of positions from the end of the same game; the later"
        " position counts as better for the winner.",
    )
    learning_rate: float = setting(0.01, "Learning rate in the first epoch of DeepChess.", over=0)
    decay: float = setting(
        0.99, "Number that multiplies the learning rate after each epoch, also in the distillation.", over=0, at_most=1
    )
    dropout: float = fraction(
        0.0, "Share of the units of each layer that are switched off at random in training (dropout)."
    )
    weight_decay: float = setting(
        0.0,
        "Weight decay: with sgd, a penalty on the squared weights in the loss; with adamw and muon, the weights"
        " shrink directly at each step.",
        at_least=0,
    )
    # distillation: the document gives neither its length nor its learning rate
    distil_epochs: float = setting(
        100.0, "Number of epochs for the distilled network, each with new pairs; 0 skips the distillation.", at_least=0
    )
    distil_rate: float = setting(0.01, "Learning rate in the first epoch of the distillation.", over=0)
    # values that the document doesn't give, except for the schedule
    optimiser: str = setting("sgd", "Optimizer: " + either(_OPTIMISERS) + ".", choices=_OPTIMISERS)
    momentum: float = fraction(0.9, "Momentum of the optimizers sgd and muon.")
    schedule: str = setting(
        "epoch",
        "Learning rate schedule: " + either(_SCHEDULES, {"epoch": "multiplied by --decay after each epoch"}) + ".",
        choices=_SCHEDULES,
    )
    batch: int = setting(256, "Number of positions or pairs per batch.", at_least=1)
    keep: str = setting(
        "last",
        "Weights to keep; last: the last ones; best: the best ones in validation (DeepChess: by the accuracy on pairs;"
        " Pos2Vec and the distilled network: by the loss).",
        choices=("last", "best"),
    )

    @property
    def distilled(self) -> bool:
        """Whether there is a distilled network, a small network that is trained to imitate the full network."""
        return self.networks != "full"

    @property
    def full(self) -> bool:
        """Whether there is a full network, the network that the paper describes."""
        return self.networks != "distilled"


_MODERN: dict[str, Any] = {
    "positions": 0,
    "colours": True,
    "mirror": True,
    "antisymmetric": True,
    "nearer": True,
    "pairs_a_position": 0.8,
    "keep": "best",
    "reuse": 4,
    "pretrain_epochs": 0.0,
    "learning_rate": 0.005,
    "distil_rate": 0.005,
    "optimiser": "muon",
    "momentum": 0.95,
    "schedule": "cosine",
    "batch": 8192,
    "weight_decay": 1.5,
    "dropout": 0.15,
}
"""The paper's networks, trained on all positions of a game with both colors, with Muon. Pairs of positions from the
same game are added, so that the network learns to make progress in a won game.
"""

RECIPES = {
    "default": Recipe(
        "the paper's networks with Muon, all positions and both colors: 40 million pairs, and 30 million for"
        " distillation",
        {**_MODERN, "epochs": 40.0, "distil_epochs": 30.0},
        reaches=(
            "without pairs from the same game (--no-nearer): pair accuracy 75.9% (75.5 to 76.4) on 21,117 games of"
            " masters from years after the training games, 9.0 percentage points above material. Pairs from the same"
            " game cost about one percentage point, but make the network play much better",
            "bundled games: pair accuracy 89.4% (86.7 to 91.8) on 138 test games, 0.2 percentage points below material",
        ),
    ),
    "long": Recipe("the default with four times the pairs", {**_MODERN, "epochs": 160.0, "distil_epochs": 100.0}),
    "paper": Recipe(
        "the document's settings: 10 positions per game, 200 epochs of Pos2Vec, then 100 epochs of one million pairs."
        " SGD is our choice, and we read the 200 epochs of Pos2Vec as 200 for each layer",
        training={"precision": "auto"},
        departures=(
            "the games come from the store. The document uses 640,000 games of engines, from the rating list CCRL",
            "the document names neither the loss of Pos2Vec nor an optimizer. In kibitz, the first layer minimizes the"
            " cross-entropy of the 773 bits, summed over the bits. The other layers minimize the mean of the squared"
            " errors. With their sum, all units of the second layer die within 350 iterations. The optimizer, SGD"
            " with momentum 0.9, is our choice, too",
            "each layer of Pos2Vec has a decoder, a dense layer back to the size of the layer's input, such as"
            " 773-600-773. The document gives these sizes, but no activation functions, and does not state whether the"
            " decoders have their own weights. In kibitz, they do. The decoder of the first layer ends with a sigmoid,"
            " those of the others with no activation function",
            "both positions use one Pos2Vec, with the same weights. The document puts two Pos2Vec networks side by side"
            " and calls them disjoint. It does not state whether they share their weights",
            "the initial weights use He initialization. In the first layer, the fan-in is the typical number of input"
            " bits that are 1. The first layer of the comparison has 200 inputs, but its fan-in is 100, the features of"
            " one position. The document does not state its initial weights",
            "the document does not state how the distilled network learns. In kibitz, it learns the probabilities of"
            " the full network on new pairs. Its Pos2Vec is not trained separately",
            "kibitz trains Pos2Vec on all sampled positions. The document uses two million positions, half from"
            " games that White won and half from games that Black won",
            "kibitz holds out 10% of the plies, and whole games. The document validates DeepChess on 100,000"
            " positions of each side",
        ),
        sources={
            "positions": document(),
            "opening": reading("the first 5 moves, which we read as 5 moves by each side"),
            "captures": reading("the document excludes captures, so we exclude positions after a capture"),
            "held_out": ours("a share of the plies; the document uses 100,000 positions of each side"),
            "colours": OPTION_OFF,
            "mirror": OPTION_OFF,
            "antisymmetric": OPTION_OFF,
            "pairs_a_position": OPTION_OFF,
            "nearer": OPTION_OFF,
            "dropout": document("no regularization"),
            "weight_decay": document("no regularization"),
            "reuse": reading("both positions of every pair are sampled at random"),
            "networks": document("the full network and, as an improvement, a distilled network"),
            "pos2vec": document(
                "with ReLU. The document counts five layers, with the 773 inputs. We train four. The training on pairs"
                " also trains Pos2Vec further"
            ),
            "compare": document(
                "layers of 400, 200, 100 and 2 units, with ReLU and a softmax; the loss is the cross-entropy"
            ),
            "small_pos2vec": document(),
            "small_compare": document(),
            "pretrain_epochs": reading(
                "the document trains Pos2Vec for 200 epochs, which we read as 200 for each layer"
            ),
            "pretrain_rate": reading("the document starts at 0.005, and we start each layer at this rate"),
            "pretrain_decay": document(),
            "epochs": document(),
            "pairs": reading(
                "the document trains on one million pairs for 100 epochs, and can use new pairs in each epoch. We read"
                " this as one million new pairs per epoch. Two million positions have 2·10¹² ordered pairs, not the two"
                " billion that the document states"
            ),
            "learning_rate": document(),
            "decay": document("used for the distillation, too, which is our choice"),
            "distil_epochs": ours(),
            "distil_rate": ours(),
            "optimiser": ours(),
            "momentum": ours(),
            "schedule": document("multiplied by the decay after each epoch"),
            "batch": ours(),
            "keep": ours("the last weights; the document does not state which weights it kept"),
            "precision": BF16_IF_FAST,
        },
    ),
}


def sizes(text: str) -> list[int]:
    """Return the layer sizes in a text such as "600.400", here [600, 400]. Raises ValueError for any other text."""
    units = [int(part) for part in text.split(".")]
    if min(units) < 1:
        raise ValueError(text)
    return units


# Positions


def positions(
    store: Store, games: NDArray[np.int64], settings: Settings, *, held_out: bool = False, each: int | None = None
) -> Sample:
    """Sample positions of some games, as we read the summary of the paper. The result has the game and the ply (number
    of moves so far) of each position.

    games: int64 [n], indices in the store. held_out: whether to sample the held-out positions, which are never used in
    training. each: the number of positions per game; None for the number in the settings.
    """
    return sample_positions(
        store, games, settings.positions if each is None else each, first=2 * settings.opening,
        exclude=None if settings.captures else store.captures(), share=settings.held_out, held_out=held_out,
    )  # fmt: skip


class PositionExamples:
    """The examples for training the layers of Pos2Vec, the network that computes features. Each example is a position.

    The positions are sampled from the given games, int64 [n]. salt: a number that determines the random changes of
    positions, such as mirroring; see `salt_of`.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings, salt: int = 0):
        self.store, self.colours, self.mirror, self.salt = store, settings.colours, settings.mirror, salt
        self.sample = positions(store, games, settings)

    def __len__(self) -> int:
        return len(self.sample)

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return the positions as "codes", uint8 [n, 64], and "state", uint8 [n, 4]. See `kibitz.PositionArrays`. ids:
        the indices of the positions in the sample, int64 [n]. epoch: the number of the pass over the examples, which
        changes the random choices.
        """
        codes, state = self.store.replay(self.sample.games[ids], self.sample.plies[ids])
        if self.colours:
            codes, state = swap_colours(codes, state, _chance(ids, epoch, 0, self.salt) & np.uint64(1) == 1)
        if self.mirror:
            codes, state = flip_files(codes, state, _chance(ids, epoch, 3, self.salt) & np.uint64(1) == 1)
        return {"codes": codes, "state": state}


class PairExamples:
    """The examples for training the comparison. Each example is a pair of positions in random order: one from a game
    that White won, and one from a game that Black won.

    A batch has the arrays `codes` and `state` of its positions (see `kibitz.PositionArrays`). `first` and `second` have
    the indices of each pair's positions. `target` is 1.0 if the first position is from the game that White won. If the
    setting `reuse` is r, each position of the batch is in r pairs, so a batch of n pairs has 2n / r positions.

    If the setting `nearer` is on, a batch also has pairs of two positions near the end of the same game, as
    `more_first`, `more_second` and `more_target`. The later position counts as better for the winner of the game.
    `more_target` is 1.0 if the first position is better for White.

    salt: a number that determines the pairs and their order; see `salt_of`.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], settings: Settings, salt: int = 0):
        self.store, self.settings, self.salt = store, settings, salt
        sample = positions(store, games, settings)
        white_won = store.column("result")[sample.games] > 0
        self.sample, self.white_won = sample, white_won
        ends = np.flatnonzero(np.diff(sample.games, append=-1))
        drawn = np.diff(ends, prepend=-1)
        self.ends, self.drawn = ends[drawn > 1], drawn[drawn > 1]
        """For each game with at least two sampled positions: the index of its last one, and their number."""
        self.won, self.lost = (Sample(sample.games[side], sample.plies[side]) for side in (white_won, ~white_won))

    def __len__(self) -> int:
        if not len(self.won) or not len(self.lost):
            return 0
        if not self.settings.pairs_a_position:
            return self.settings.pairs
        return min(self.settings.pairs, max(round(self.settings.pairs_a_position * len(self.sample)), 1))

    def batch(self, ids: NDArray[np.int64], epoch: int) -> Arrays:
        """Return a batch with one pair per id, as the dict of arrays that `PairExamples` describes. ids: int64 [n].
        epoch: the number of the pass over the examples; each pass has new pairs.
        """
        return self.part(ids, epoch, 0, 1)

    def part(self, ids: NDArray[np.int64], epoch: int, rank: int, world: int) -> Arrays:
        """Return the part of a batch with which one process of several computes its loss (see
        `systems.base.Parted.part`, also for the arguments). This part has some of the positions from games that White
        won, and all pairs with these positions.
        """
        reuse = self.settings.reuse if len(ids) % self.settings.reuse == 0 else 1
        few = ids[: len(ids) // reuse]
        if len(few) < world:
            raise KibitzError(
                f"--batch takes pairs from {number_of(len(few), 'position')}, which are too few for {world}"
                " processes. Use fewer --devices."
            )
        row = np.array_split(np.arange(len(few)), world)[rank]
        # positions from games that Black won: [reuse, rows]
        others = np.stack([(row - turn) % len(few) for turn in range(reuse)])
        other = np.unique(others)
        won, won_exchanged = self._drawn(few[row], epoch, 1, self.won, self.lost)
        lost, lost_exchanged = self._drawn(few[other], epoch, 4, self.lost, self.won)
        games, plies = np.concatenate([won.games, lost.games]), np.concatenate([won.plies, lost.plies])
        codes, state = self.store.replay(games, plies)
        if self.settings.colours:
            codes, state = swap_colours(codes, state, np.concatenate([won_exchanged, lost_exchanged]))
        if self.settings.mirror:
            coins = [
                _chance(some, epoch, key, self.salt) & np.uint64(1) == 1
                for some, key in ((few[row], 3), (few[other], 6))
            ]
            codes, state = flip_files(codes, state, np.concatenate(coins))
        better = np.tile(np.arange(len(row)), reuse)
        worse = np.searchsorted(other, others).ravel() + len(row)
        mine = ids.reshape(reuse, -1)[:, row].ravel()
        target = _chance(mine, epoch, 7, self.salt) & np.uint64(1) == 1
        pairs = {
            "codes": codes,
            "state": state,
            "first": np.where(target, better, worse),
            "second": np.where(target, worse, better),
            "target": target.astype(np.float32),
        }
        more = self.settings.nearer and len(self.ends)
        return pairs | self._nearer(few[row], epoch, codes, state) if more else pairs

    def _nearer(self, ids: NDArray[np.int64], epoch: int, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Arrays:
        """Return the positions of the batch followed by two positions near the end of one game for each id, and the
        pairs of these two positions.

        ids: int64 [n]. codes, state: the positions of the batch.
        """
        count, chance = len(ids), _chance(ids, epoch + 1000, 1, self.salt)
        game = (chance % np.uint64(len(self.ends))).astype(np.int64)
        end, drawn = self.ends[game], self.drawn[game]
        chance = _chance(ids, epoch + 1000, 2, self.salt)
        back = (chance % np.minimum(MAX_SAMPLES_BACK, drawn - 1).astype(np.uint64)).astype(np.int64)
        over = (chance >> np.uint64(32)) % np.minimum(MAX_SAMPLES_BACK, drawn - 1 - back).astype(np.uint64)
        later = end - back
        earlier = later - 1 - over.astype(np.int64)
        both = np.concatenate([later, earlier])
        more_codes, more_state = self.store.replay(self.sample.games[both], self.sample.plies[both])
        white = self.white_won[end]
        if self.settings.colours:
            turned = _chance(ids, epoch + 1000, 3, self.salt) & np.uint64(1) == 1
            more_codes, more_state = swap_colours(more_codes, more_state, np.tile(turned, 2))
            white = white != turned
        if self.settings.mirror:
            coins = _chance(ids, epoch + 1000, 5, self.salt) & np.uint64(1) == 1
            more_codes, more_state = flip_files(more_codes, more_state, np.tile(coins, 2))
        row = np.arange(count) + len(codes)
        swapped = _chance(ids, epoch + 1000, 4, self.salt) & np.uint64(1) == 1
        return {
            "codes": np.concatenate([codes, more_codes]),
            "state": np.concatenate([state, more_state]),
            "more_first": np.where(swapped, row + count, row),
            "more_second": np.where(swapped, row, row + count),
            "more_target": (white != swapped).astype(np.float32),
        }

    def _drawn(
        self, ids: NDArray[np.int64], epoch: int, key: int, straight: Sample, other: Sample
    ) -> tuple[Sample, NDArray[np.bool_]]:
        """Sample a position for each id, and decide whether its colors are swapped; a swapped position is taken from
        `other`.
        """
        turned = np.zeros(1, np.bool_)
        if self.settings.colours:
            turned = _chance(ids, epoch, key, self.salt) & np.uint64(1) == 1
        chance = _chance(ids, epoch, key + 1, self.salt)
        here = (chance % np.uint64(len(straight))).astype(np.int64)
        there = (chance % np.uint64(len(other))).astype(np.int64)
        games = np.where(turned, other.games[there], straight.games[here])
        plies = np.where(turned, other.plies[there], straight.plies[here])
        return Sample(games, plies), np.broadcast_to(turned, games.shape)


def _chance(ids: NDArray[np.int64], epoch: int, key: int, salt: int) -> NDArray[np.uint64]:
    """Return random bits, uint64 [n], that depend only on these arguments."""
    return splitmix64(ids.astype(np.uint64) * np.uint64(8) + np.uint64((epoch << 40) + key) ^ np.uint64(salt))


def salt_of(stage: str, seed: int) -> int:
    """Return a 64-bit number that is mixed into all random choices of a training stage (a part of the training). It
    differs for every stage and seed, so that no two stages use the same pairs. stage: the name of the stage.
    """
    return int.from_bytes(hashlib.sha256(f"{stage} {seed}".encode()).digest()[:8], "little")


# Networks


class Pos2Vec(nn.Module):
    """The network that converts a position to features: dense layers, each followed by a ReLU. layers: the sizes of the
    layers. dropout: the share of their units that are switched off at random in training.

    Inputs: `codes`, the pieces, uint8 [n, 64]; `state`, the side to move and more, uint8 [n, 4]. Output: the features,
    float32 [n, units of the last layer].
    """

    def __init__(self, layers: Sequence[int], dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.first = BitsLinear(layers[0])
        self.rest = nn.ModuleList(nn.Linear(wide, narrow) for wide, narrow in pairwise(layers))

    def forward(self, codes: Tensor, state: Tensor, depth: int | None = None) -> Tensor:
        """Return the features after `depth` layers, float32 [n, units of this layer]. codes, state: the positions,
        uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`. depth: at least 1; None for all layers.
        """
        values: Tensor = F.relu(self.first(codes, state))
        for layer in list(self.rest)[: None if depth is None else depth - 1]:
            values = F.relu(layer(self.dropout(values)))
        return values


class ComparisonHead(nn.Module):
    """Computes the logit of the probability that the first position of a pair is better for White than the second
    position.

    The paper's network ends with two values and a softmax; the logit is the difference of the two values. The input of
    the first layer is the features of both positions. This layer is computed as the sum of two layers: `as_first` of
    the first position, and `as_second` of the second. Both are computed only once per position, even if the position is
    in many pairs.
    """

    def __init__(self, features: int, layers: Sequence[int], dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.as_first = nn.Linear(features, layers[0])
        self.as_second = nn.Linear(features, layers[0], bias=False)
        self.rest = nn.ModuleList(nn.Linear(wide, narrow) for wide, narrow in pairwise(layers))
        self.answer = nn.Linear(layers[-1], 2)

    def forward(self, as_first: Tensor, as_second: Tensor) -> Tensor:
        """Return for each pair the logit of the probability that its first position is better for White.

        as_first, as_second: [..., units], the outputs of the layers `as_first` and `as_second` for the first and the
        second position of each pair. Their shapes are broadcast. The result has the shape [...], without the last axis.
        """
        values = F.relu(as_first + as_second)
        for layer in self.rest:
            values = F.relu(layer(self.dropout(values)))
        both = self.answer(values).float()
        logit: Tensor = both[..., 0] - both[..., 1]
        return logit


class ComparisonNet(nn.Module):
    """A comparison network: Pos2Vec, which computes features of each position, and a head that compares two positions.

    pos2vec, compare: the layer sizes of both parts, such as "600.400". antisymmetric: whether the outputs for both
    orders of a pair are averaged. dropout: the share of units that are switched off at random in training.
    """

    def __init__(self, pos2vec: str, compare: str, antisymmetric: bool, dropout: float = 0.0):
        super().__init__()
        self.antisymmetric = antisymmetric
        self.pos2vec = Pos2Vec(sizes(pos2vec), dropout)
        self.compare = ComparisonHead(sizes(pos2vec)[-1], sizes(compare), dropout)

    @property
    def trained(self) -> bool:
        """Whether the network has been trained: whether a bias of the head is not 0. Before training, all biases are 0.
        The module `play.comparison.embedding` uses the same test.
        """
        return any(bool(p.any()) for name, p in self.compare.named_parameters() if name.endswith("bias"))

    def logit(self, features: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Return for each pair the logit of the probability that its first position is better for White, float [pairs].

        features: the features of n positions, [n, units]. first, second: int64 [pairs], the positions of each pair, as
        indices into `features`.
        """
        compare = self.compare
        left, right = compare.as_first(features), compare.as_second(features)
        logit: Tensor = compare(left.index_select(0, first), right.index_select(0, second))
        if self.antisymmetric:
            logit = (logit - compare(left.index_select(0, second), right.index_select(0, first))) / 2
        return logit

    def against(self, features: Tensor, references: Tensor) -> Tensor:
        """Compare n positions with reference positions. Return for each pair the logit of the probability that the
        position is better for White than the reference position, [n, references].

        features: the features of the positions, [n, units]. references: the features of the reference positions,
        [references, units]. The logits are averaged over both orders of a pair.
        """
        compare = self.compare
        forth = compare(compare.as_first(features)[:, None], compare.as_second(references)[None])
        back = compare(compare.as_first(references)[None], compare.as_second(features)[:, None])
        logit: Tensor = (forth - back) / 2
        return logit


class DeepChess(nn.Module):
    """The network of the system (kind of network) `deepchess`. It consists of the full network, the decoders for
    pretraining Pos2Vec, and the distilled network. The settings determine which of these parts exist.

    The output is `white_better`, [n]: the probability that a position is better for White than a balanced position, as
    the mean over some balanced reference positions. The full network computes the output if it exists, otherwise the
    distilled network does.
    """

    outputs = ("white_better",)
    side_inputs: ClassVar[dict[str, int]] = {}
    seed: int = 0
    """The seed of the training, which `prepare` sets. It is not stored with the weights."""

    def __init__(self, settings: Settings):
        super().__init__()
        if settings.full:
            self.full = ComparisonNet(settings.pos2vec, settings.compare, settings.antisymmetric, settings.dropout)
            wide = [PieceBits.channels, *sizes(settings.pos2vec)]
            self.decoders = nn.ModuleList(nn.Linear(narrow, wide_) for wide_, narrow in pairwise(wide))
        if settings.distilled:
            self.distilled = ComparisonNet(settings.small_pos2vec, settings.small_compare, settings.antisymmetric)
        self.bits = PieceBits()
        self.register_buffer("reference_codes", torch.zeros(N_REFERENCES, 64, dtype=torch.uint8))
        self.register_buffer("reference_state", torch.zeros(N_REFERENCES, 4, dtype=torch.uint8))

    def parts(self) -> dict[str, ComparisonNet]:
        """Return the networks that can compare positions, as a dict with the keys "full" and "distilled". If there is a
        full network, the distilled network is included only after it has been trained.
        """
        parts = {name: getattr(self, name) for name in PARTS[1:] if hasattr(self, name)}
        return {name: part for name, part in parts.items() if part.trained or len(parts) == 1 or name == "full"}

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor]:
        """Return the probability that each position is better for White than a balanced position, float32 [n], as the
        only element of a tuple. codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see
        `kibitz.PositionArrays`.
        """
        part = next(iter(self.parts().values()))
        references = part.pos2vec(self.get_buffer("reference_codes"), self.get_buffer("reference_state"))
        logits = part.against(part.pos2vec(codes, state), references)
        return (torch.sigmoid(logits).mean(1),)


def reference_positions(store: Store, games: NDArray[np.int64], settings: Settings, seed: int) -> Sample:
    """Sample the reference positions, with which `deepchess` compares a position to evaluate it. They are balanced:
    both sides have the same pieces.

    Half of them are from games that White won, and half from games that Black won. In each half, White is to move in
    one half of the positions and Black in the other. If the games have too few balanced positions, other positions are
    added. Raises KibitzError if there are no positions from games that White won, or none from games that Black won.
    """
    sample = positions(store, games, settings)
    white_won = store.column("result")[sample.games] > 0
    if white_won.all() or not white_won.any():  # with no games, both conditions are true
        raise KibitzError(
            f"{store.path} has too few pairs of positions: White won"
            f" {number_of(int(white_won.sum()), 'training game')},"
            f" Black {int((~white_won).sum()):,}. Import more decisive games, or lower --opening."
        )
    order = np.random.default_rng(seed).permutation(len(sample))[:20_000]
    codes, state = store.replay(sample.games[order], sample.plies[order])
    counts = np.stack([(codes == code).sum(1) for code in range(1, 13)], 1)
    even = (counts[:, :6] == counts[:, 6:]).all(1)
    kind = 2 * white_won[order] + (state[:, 0] != 0)
    chosen: list[int] = []
    for which in range(4):
        chosen += np.flatnonzero(even & (kind == which))[: N_REFERENCES // 4].tolist()
    rest = np.setdiff1d(np.arange(len(order)), chosen).tolist()
    order = order[np.resize(chosen + rest, N_REFERENCES)]  # too few positions are repeated
    return Sample(sample.games[order], sample.plies[order])


# Losses


def reconstruction_loss(network: DeepChess, index: int, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of a decoder for one layer of Pos2Vec. The decoder reconstructs the layer's input from the
    layer's output. The result is the mean loss, and a dict with the metrics "loss" and "wrong" of each position, each
    float32 [n].

    index: the number of the layer, from 0. For layer 0, the loss is the cross entropy, summed over the bits of a
    position, and "wrong" is the number of wrong bits. For the other layers, the loss is the mean squared error, and
    "wrong" is this error divided by the mean square of the inputs.
    """
    pos2vec, decoder = network.full.pos2vec, network.decoders[index]
    if index == 0:
        bits = network.bits(batch["codes"], batch["state"])
        logits = decoder(pos2vec(batch["codes"], batch["state"], 1)).float()
        losses = F.binary_cross_entropy_with_logits(logits, bits, reduction="none").sum(1)
        wrong = ((logits > 0) != (bits > 0.5)).float().sum(1)
        return losses.mean(), {"loss": losses.detach(), "wrong": wrong}
    pos2vec.eval()  # the reconstruction target is computed without dropout
    with torch.no_grad():
        inputs = pos2vec(batch["codes"], batch["state"], index).float()
    decoded = decoder(F.relu(pos2vec.rest[index - 1](inputs))).float()
    # If the loss were the sum over 600 units, the steps would be so large that the ReLUs would always output 0.
    losses = (decoded - inputs).square().mean(1)
    mean_square = inputs.square().mean().clamp(min=1e-6)
    return losses.mean(), {"loss": losses.detach(), "wrong": losses.detach() / mean_square}


def _reconstruction_constant_loss(network: DeepChess, index: int, batch: Tensors) -> float:
    """Return the loss of always predicting the mean of the layer's inputs."""
    if index == 0:
        return float(constant.of_shares(network.bits(batch["codes"], batch["state"])))
    return float(constant.of_values(network.full.pos2vec(batch["codes"], batch["state"], index)))


def comparison_loss(part: ComparisonNet, batch: Tensors) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a comparison network on a batch, the cross entropy of the pairs. Also return the metrics
    "loss" and "accuracy", each float32 [pairs].

    batch: a batch of PairExamples. The accuracy is 1 if the network prefers the position of the game that White won. If
    the batch has pairs from the same game, the loss includes them, but the metrics don't.
    """
    features = part.pos2vec(batch["codes"], batch["state"])
    logits = part.logit(features, batch["first"], batch["second"])
    losses = F.binary_cross_entropy_with_logits(logits, batch["target"], reduction="none")
    loss = losses.mean()
    if "more_first" in batch:
        more = part.logit(features, batch["more_first"], batch["more_second"])
        loss = loss + SAME_GAME_WEIGHT * F.binary_cross_entropy_with_logits(more, batch["more_target"])
    return loss, {"loss": losses.detach(), "accuracy": ((logits > 0) == (batch["target"] > 0.5)).float()}


def distillation_loss(
    teacher: ComparisonNet, student: ComparisonNet, batch: Tensors
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean loss of a small network, the student, that imitates a large network, the teacher. The loss is the
    cross entropy against the teacher's probabilities. Also return the metrics "loss", "accuracy" and "agreement", each
    float32 [pairs].

    batch: a batch of PairExamples. The accuracy is 1 if the student prefers the position of the game that White won.
    The agreement is 1 if student and teacher prefer the same position.
    """
    first, second, count = batch["first"], batch["second"], len(batch["first"])
    if "more_first" in batch:
        first, second = torch.cat([first, batch["more_first"]]), torch.cat([second, batch["more_second"]])
    teacher.eval()  # without dropout
    with torch.no_grad():
        targets = teacher.logit(teacher.pos2vec(batch["codes"], batch["state"]), first, second)
    logits = student.logit(student.pos2vec(batch["codes"], batch["state"]), first, second)
    losses = F.binary_cross_entropy_with_logits(logits, torch.sigmoid(targets), reduction="none")
    loss, losses, logits, targets = losses.mean(), losses[:count], logits[:count], targets[:count]
    accuracy = ((logits > 0) == (batch["target"] > 0.5)).float()
    return loss, {"loss": losses.detach(), "accuracy": accuracy, "agreement": ((logits > 0) == (targets > 0)).float()}


# Optimiser


def optimiser(settings: Settings, *modules: nn.Module, weight_decay: float = 0.0) -> torch.optim.Optimizer:
    """Return a new optimizer for the weights of `modules`. If the setting `optimiser` is "muon", Adam updates the first
    layer, the last layer and the biases, and Muon all other weights.

    weight_decay: the strength of the weight decay. The paper uses none, because every pass has new pairs.
    """
    if settings.optimiser == "muon":
        parameters = [p for module in modules for p in module.parameters()]
        weights, biases = [p for p in parameters if p.dim() == 2], [p for p in parameters if p.dim() < 2]
        inner = [p for p in weights if p.shape[0] > 2 and p.shape[0] != PieceBits.channels]
        outer = [p for p in weights if not (p.shape[0] > 2 and p.shape[0] != PieceBits.channels)]
        groups: list[dict[str, Any]] = [
            {"params": inner, "matrices": True, "weight_decay": weight_decay},
            {"params": outer, "weight_decay": weight_decay},
            {"params": biases},
        ]  # fmt: skip
        return Muon(groups, settings.momentum)
    return make_optimiser(
        settings.optimiser, nn.ModuleList(modules), weight_decay=weight_decay, momentum=settings.momentum
    )


# The system


class DeepChessSystem(System):
    """The system (kind of network) `deepchess`: networks that predict which of two chess positions is better for White.
    The base class describes the methods.
    """

    name = "deepchess"
    settings_type = Settings
    recipes = RECIPES

    def check(self, settings: Settings) -> None:
        if settings.networks == "distilled":
            raise UsageError("--networks distilled cannot be trained without the full network. Use --networks both.")
        super().check(settings)
        for name in ("pos2vec", "compare", "small_pos2vec", "small_compare"):
            try:
                sizes(getattr(settings, name))
            except ValueError:
                option = name.replace("_", "-")
                raise UsageError(
                    f"--{option} must be sizes of layers, for example 400.200.100 (got {getattr(settings, name)})"
                ) from None
        if settings.nearer and settings.positions == 1:
            raise UsageError(f"--positions must be 0 or at least 2 with --nearer (got {settings.positions})")
        if settings.batch % settings.reuse:
            raise UsageError(f"--batch must be a multiple of --reuse (got {settings.batch} and {settings.reuse})")
        if not (settings.pretrain_epochs or settings.epochs or (settings.distilled and settings.distil_epochs)):
            raise UsageError("--pretrain-epochs, --epochs and --distil-epochs must not all be 0. Raise one of them.")

    def games(self, store: Store, settings: Settings) -> NDArray[np.int64]:
        """Return the games that training can use: the decisive games that are longer than the opening. The result has
        their indices, int64 [n]. Raises KibitzError if White or Black won fewer than MIN_GAMES_WON of them.
        """
        result = store.column("result")
        short = (result != 0) & (store.plies < 2 * settings.opening)
        won, lost = int((result[~short] > 0).sum()), int((result[~short] < 0).sum())
        if min(won, lost) < MIN_GAMES_WON:
            others = number_of(int(short.sum()), "other game")
            too_short = f"; {others} that ended in the first {settings.opening} moves" if short.any() else ""
            raise KibitzError(
                f"{store.path} needs at least {MIN_GAMES_WON} games that White won, and {MIN_GAMES_WON} that Black won"
                " (got"
                f" {won:,} and {lost:,}{too_short}). Import more decisive games."
            )
        return np.flatnonzero((result != 0) & ~short)

    def network(self, settings: Settings) -> DeepChess:
        return DeepChess(settings)

    def prepare(
        self, network: nn.Module, store: Store, games: NDArray[np.int64], settings: Settings, seed: int
    ) -> None:
        assert isinstance(network, DeepChess)
        network.seed = seed
        sample = reference_positions(store, games, settings, seed)
        codes, state = store.replay(sample.games, sample.plies)
        network.get_buffer("reference_codes").copy_(torch.from_numpy(codes))
        network.get_buffer("reference_state").copy_(torch.from_numpy(state))
        generator = torch.Generator().manual_seed(seed)
        for layer in network.modules():
            if isinstance(layer, nn.Linear):
                with torch.no_grad():
                    layer.weight.normal_(0, (2 / layer.in_features) ** 0.5, generator=generator)
                    if layer.bias is not None:
                        layer.bias.zero_()
            elif isinstance(layer, BitsLinear):
                layer.draw(generator)

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        """Return the stages (parts) of the training: one for each layer of Pos2Vec, then the comparison, then the
        distillation. Stages with 0 epochs are omitted.
        """
        assert isinstance(network, DeepChess)
        layers = range(1 + len(network.full.pos2vec.rest))
        stages = [_pretraining_stage(network, settings, layer) for layer in layers]
        stages.append(_comparison_stage(network, settings))
        if settings.distilled:
            stages.append(_distillation_stage(network, settings))
        return [stage for stage in stages if stage.epochs]


def _pretraining_stage(network: DeepChess, settings: Settings, index: int) -> Stage:
    """Return the stage of the training that trains layer `index` of Pos2Vec (from 0), with its decoder, to reconstruct
    the layer's input.
    """
    pos2vec = network.full.pos2vec
    layer = pos2vec.first if index == 0 else pos2vec.rest[index - 1]
    return _stage(
        network, settings, f"pos2vec-{index + 1}", [layer, network.decoders[index]],
        rate=settings.pretrain_rate, decay=settings.pretrain_decay, epochs=settings.pretrain_epochs,
        examples=PositionExamples,
        loss=lambda batch: reconstruction_loss(network, index, batch),
        constant_loss=lambda batch: _reconstruction_constant_loss(network, index, batch),
    )  # fmt: skip


def _comparison_stage(network: DeepChess, settings: Settings) -> Stage:
    """Return the stage (a part of the training) that trains the full network on pairs of positions."""
    full = network.full
    return _stage(
        network, settings, "deepchess", [full],
        rate=settings.learning_rate, decay=settings.decay, epochs=settings.epochs, weight_decay=settings.weight_decay,
        examples=PairExamples,
        loss=lambda batch: comparison_loss(full, batch),
        monitor="accuracy",
        constant_loss=lambda batch: float(constant.of_shares(batch["target"])),
    )  # fmt: skip


def _distillation_stage(network: DeepChess, settings: Settings) -> Stage:
    """Return the stage (a part of the training) that trains the small network on the full network's outputs."""
    full, small = network.full, network.distilled
    return _stage(
        network, settings, "distilled", [small],
        rate=settings.distil_rate, decay=settings.decay, epochs=settings.distil_epochs,
        examples=PairExamples,
        loss=lambda batch: distillation_loss(full, small, batch),
    )  # fmt: skip


def _stage(
    network: DeepChess, settings: Settings, name: str, trained: Sequence[nn.Module], *, rate: float, decay: float,
    epochs: float, examples: type[PositionExamples | PairExamples], weight_decay: float = 0.0, **others: Any,
) -> Stage:  # fmt: skip
    """Return a stage (a part of the training) that trains some modules of the network. trained: these modules. others:
    further fields of the Stage.
    """
    return Stage(
        name=name,
        module=network,
        examples=lambda store, games: examples(store, games, settings, salt_of(name, network.seed)),
        optimiser=lambda: optimiser(settings, *trained, weight_decay=weight_decay),
        learning_rate=lambda iteration, iterations: learning_rate_at(
            settings.schedule, rate, iteration, iterations, decay=decay, epochs=epochs
        ),
        batch=settings.batch,
        iterations=None,
        epochs=epochs,
        keep_last=settings.keep == "last",
        **others,
    )


SYSTEM = DeepChessSystem()
