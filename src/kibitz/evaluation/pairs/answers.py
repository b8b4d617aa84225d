"""Pairs of chess positions and the networks' predictions for them. One position of a pair is from a game that White
won, and the other position is from a game that Black won.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kibitz.evaluation.pairs.two_way import TwoWayBootstrap, clustered_mean
from kibitz.evaluation.slices import VALUES
from kibitz.games.chess.material import phase
from kibitz.runs import Run
from kibitz.stats import SEED, Estimate
from kibitz.store.positions import permutation
from kibitz.store.sampling import Sample
from kibitz.store.store import Store
from kibitz.systems.deepchess import ComparisonNet, Settings

BATCH_SIZE = 4096
"""The number of positions, or of pairs, that are processed in one batch."""
MAX_PAIRS = 4_000_000
"""The largest number of pairs that are sampled if the user requests all pairs. Even a few thousand games have too many
pairs.
"""


def as_tested(settings: Settings) -> Settings:
    """Return the settings by which positions are sampled for a test. If training used all positions of a game, the test
    uses 10 per game, as in the paper about the system (kind of network) `deepchess`.

    settings: the settings of the network's training. Without the limit, long games would have more weight, and the
    results of different networks couldn't be compared.
    """
    return replace(settings, positions=settings.positions or Settings.positions)


@dataclass(frozen=True)
class PairSample:
    """Sampled positions, and pairs of these positions.

    games, plies: int64 [positions], the positions: the index of a game in its database (store), and the number of moves
        before the position.
    won, lost: int64 [pairs], the two positions of each pair, as indices into `games` and `plies`. White won the game of
        the position in `won`. Black won the game of the position in `lost`.
    first: bool [pairs], whether the position in `won` is the network's first input.
    indices: int64 [positions], the index of each position in the sample from which the pairs were made.
    possible: the number of different pairs that can be made from this sample.
    seed: the random seed for confidence intervals.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    indices: NDArray[np.int64]
    won: NDArray[np.int64]
    lost: NDArray[np.int64]
    first: NDArray[np.bool_]
    possible: int
    seed: int = SEED

    def __len__(self) -> int:
        return len(self.won)

    @cached_property
    def groups(self) -> TwoWayBootstrap:
        """The pairs grouped by their two games, for computing means with confidence intervals."""
        return TwoWayBootstrap(self.games[self.won], self.games[self.lost], seed=self.seed)

    def both(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a value of both positions of each pair, as two arrays [pairs]: first for the position of the game that
        White won, then for the position of the game that Black won.

        values: [positions], the value of each position.
        """
        return values[self.won], values[self.lost]


def pairs(store: Store, sample: Sample, limit: int, seed: int, bootstrap: int = SEED) -> PairSample | None:
    """Sample pairs of the given positions uniformly. The result contains only the positions that are in a pair. It is
    None if no position is from a game that White won, or none from a game that Black won.

    sample: the positions. limit: the largest number of pairs; 0 for 4 million. seed: the random seed. bootstrap: the
    random seed for confidence intervals.
    """
    white_won = store.column("result")[sample.games] > 0
    won, lost = np.flatnonzero(white_won), np.flatnonzero(~white_won)
    possible = len(won) * len(lost)
    if not possible:
        return None
    count = min(possible, limit or MAX_PAIRS)
    drawn = np.sort(permutation(possible, seed, 0, 0, count)) if count < possible else np.arange(possible)
    left, right = won[drawn // len(lost)], lost[drawn % len(lost)]
    used = np.union1d(left, right)
    return PairSample(
        store, sample.games[used], sample.plies[used], used, np.searchsorted(used, left), np.searchsorted(used, right),
        np.random.default_rng(seed).integers(2, size=count) > 0, possible, bootstrap,
    )  # fmt: skip


# Networks


def networks(run: Run) -> dict[str, ComparisonNet]:
    """Return the comparison networks that a run (the folder of a trained network) contains, as a dict from names, such
    as "distilled", to networks. Raises KibitzError if the run's weights are damaged.
    """
    network: Any = run.load_network()
    parts: dict[str, ComparisonNet] = network.parts()
    return parts


@torch.inference_mode()
def both_orders(part: ComparisonNet, first: torch.Tensor, second: torch.Tensor) -> NDArray[np.float32]:
    """Compare the two positions of each pair in both orders of the inputs. Returns the logits, float32 [2, n].

    In row 0, the logit is for `first` being better for White, with `first` as the network's first input. In row 1, it
    is for `second` being better for White, with `second` as the network's first input.

    part: the network. first, second: the features of the pairs' positions, [n, features].
    """
    compare = part.compare
    there = compare(compare.as_first(first), compare.as_second(second))
    back = compare(compare.as_first(second), compare.as_second(first))
    if part.antisymmetric:
        there, back = (there - back) / 2, (back - there) / 2
    return torch.stack([there, back]).numpy()


@dataclass(frozen=True)
class PairAnswers:
    """A network's predictions for pairs of positions. Each array contains logits of one event: the position of the game
    that White won is better for White than the other position.

    as_first: float32 [pairs], the logit if the position of the game that White won is the network's first input.
    as_second: float32 [pairs], the logit if this position is the network's second input.
    as_shown: float32 [pairs], the logit for the order of inputs in `PairSample.first`. The results use this logit.
    """

    as_first: NDArray[np.float32]
    as_second: NDArray[np.float32]
    as_shown: NDArray[np.float32]

    @property
    def right(self) -> NDArray[np.float64]:
        """The correctness of each prediction, float64 [pairs]: 1 if the network prefers the position of the game that
        White won, 0.5 if it prefers neither position, otherwise 0.
        """
        return preferred(self.as_shown)

    @property
    def chance(self) -> NDArray[np.float64]:
        """The predicted probability, float64 [pairs], that the position of the game that White won is better for White
        than the other position.
        """
        return sigmoid(self.as_shown)

    @property
    def gap(self) -> NDArray[np.float64]:
        """The inconsistency between the two orders of the inputs a and b, float64 [pairs], 0 to 1: `|p(a, b) + p(b, a)
        - 1|`, where p is the predicted probability that the first input is better.
        """
        gap: NDArray[np.float64] = np.abs(sigmoid(self.as_first) - sigmoid(self.as_second))
        return gap

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Whether the preferred position changes if the network gets the two positions in the other order, bool
        [pairs].
        """
        changed: NDArray[np.bool_] = np.sign(self.as_first) != np.sign(self.as_second)
        return changed


def preferred(score: NDArray[Any]) -> NDArray[np.float64]:
    """Return the correctness of predictions for pairs, float64 [n]: 1 if the score is above 0, 0 if it is below 0, and
    0.5 if it is 0.

    score: [n]. A score above 0 means that the predictor prefers the position of the game that White won.
    """
    right: NDArray[np.float64] = (np.sign(score).astype(np.float64) + 1) / 2
    return right


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Convert logits to probabilities, float64 with the shape of `logits`."""
    chance: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -60, 60)))
    return chance


def answers(
    part: ComparisonNet,
    features: torch.Tensor,
    of: PairSample,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> PairAnswers:
    """Return a network's predictions for pairs.

    part: the network. features: [positions, …], the features of each position of `of`. of: the pairs. on_progress: a
    function that is called with the number of completed pairs and the total.
    """
    logits = np.empty((2, len(of)), np.float32)
    for start in range(0, len(of), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        won, lost = (features[torch.from_numpy(numbers[rows])] for numbers in (of.won, of.lost))
        logits[:, rows] = both_orders(part, won, lost)
        on_progress(min(start + BATCH_SIZE, len(of)), len(of))
    return PairAnswers(logits[0], -logits[1], np.where(of.first, logits[0], -logits[1]))


# The results


@dataclass(frozen=True)
class PairResults:
    """Pairs of positions, and the predictions for them. A run of `deepchess` can contain two networks: the main one,
    and a smaller one that was trained to give the same answers. Both are tested on the same pairs.

    pairs: the sampled positions, and which two of them form each pair.
    material: int16 [positions], White's material minus Black's, in pawns.
    phase: int64 [positions], the phase of the game, 0 opening, 1 middlegame, 2 endgame.
    parts: a dict of the networks. The keys are their names, and the main network comes first.
    features: a dict with the same keys: for each network, the output of its first part for each position, float32
        [positions, …].
    answers: a dict with the same keys: the predictions of each network.
    """

    pairs: PairSample
    material: NDArray[np.int16]
    phase: NDArray[np.int64]
    parts: Mapping[str, ComparisonNet]
    features: Mapping[str, torch.Tensor]
    answers: Mapping[str, PairAnswers]

    @property
    def main(self) -> PairAnswers:
        """The predictions of the first network, which is the main one."""
        return next(iter(self.answers.values()))

    @property
    def material_difference(self) -> NDArray[np.int16]:
        """The material in the position of the game that White won, minus the material in the other position, int16
        [pairs]. Material is White's minus Black's, in pawns.
        """
        won, lost = self.pairs.both(self.material)
        ahead: NDArray[np.int16] = won - lost
        return ahead

    @property
    def groups(self) -> TwoWayBootstrap:
        """The pairs grouped by their two games, for computing means with confidence intervals."""
        return self.pairs.groups

    def right(self) -> dict[str, NDArray[np.float64]]:
        """Return a dict from a network's name to the correctness of its predictions for each pair, float64 [pairs]: 1
        if the prediction is right, 0 if it is wrong, and 0.5 for no preference. The dict's last entry, "material", is
        for the baseline (simple predictor) that prefers the position in which White has more material.
        """
        return {name: one.right for name, one in self.answers.items()} | {
            "material": preferred(self.material_difference)
        }

    def of_some(self, indices: NDArray[np.int64], most: int, seed: int) -> PairResults | None:
        """Make new pairs of some of the positions. Return the new pairs with the predictions of the main network, which
        is the first one in `parts`. Return None if no pair can be made.

        indices: int64 [k], the positions to use. most: the largest number of pairs. seed: the random seed.
        """
        sample = Sample(self.pairs.games[indices], self.pairs.plies[indices])
        if (of := pairs(self.pairs.store, sample, most, seed)) is None:
            return None
        rows = indices[of.indices]
        name, part = next(iter(self.parts.items()))
        features = self.features[name][torch.from_numpy(rows)]
        answered = {name: answers(part, features, of)}
        return PairResults(of, self.material[rows], self.phase[rows], {name: part}, {name: features}, answered)


def fill(
    of: PairSample, parts: Mapping[str, ComparisonNet], on_progress: Callable[[str, int, int], None], words: str
) -> PairResults:
    """Compute the features of the positions, compare all pairs with each of the networks, and return the results.

    of: the pairs. parts: a dict from names to networks. words: a description of the pairs, for the progress bar.
    """
    many = len(of.games)
    material, phases = np.empty(many, np.int16), np.empty(many, np.int64)
    features = {name: torch.empty(many, part.compare.as_first.in_features) for name, part in parts.items()}
    for start in range(0, many, BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        codes, state = of.store.replay(of.games[rows], of.plies[rows])
        material[rows] = VALUES[codes].sum(1, dtype=np.int16)
        phases[rows] = phase(codes)
        with torch.inference_mode():
            for name, part in parts.items():
                features[name][rows] = part.pos2vec(torch.from_numpy(codes), torch.from_numpy(state))
        on_progress(f"positions ({words})", min(start + BATCH_SIZE, many), many)
    answered = {
        name: answers(part, features[name], of, partial(on_progress, f"pairs ({words}, {name} network)"))
        for name, part in parts.items()
    }
    return PairResults(of, material, phases, parts, features, answered)


# Triples


def intransitive(
    part: ComparisonNet, features: torch.Tensor, games: NDArray[np.int64], count: int, seed: int
) -> Estimate:
    """Return how often a network's preferences form a circle: it prefers position a to b, b to c and c to a, or the
    reverse. The result is a share of random triples of positions. Random predictions would give a quarter.

    part: the network. features: [n, …], the features of the positions. games: int64 [n], their games.
    count: the number of sampled triples. seed: the random seed.

    The network gets each pair in only one order of the inputs.
    """
    if len(games) < 3:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    three = np.random.default_rng(seed).integers(len(games), size=(count, 3))
    three = three[(three[:, 0] != three[:, 1]) & (three[:, 1] != three[:, 2]) & (three[:, 0] != three[:, 2])]
    wins = []
    for one, other in ((0, 1), (1, 2), (2, 0)):
        pieces = [
            both_orders(
                part, *(features[torch.from_numpy(three[start : start + BATCH_SIZE, k])] for k in (one, other))
            )[0]
            for start in range(0, len(three), BATCH_SIZE)
        ]
        wins.append(np.concatenate(pieces) > 0)
    circle = (wins[0] == wins[1]) & (wins[1] == wins[2])
    return clustered_mean(circle, games[three])
