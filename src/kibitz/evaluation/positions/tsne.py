"""A map of positions (t-SNE), computed from the outputs of the network's last hidden layer. Positions with similar
outputs are near each other, and a game is a path on the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from kibitz.evaluation.policy.metrics import PolicyResults, with_side_inputs
from kibitz.evaluation.samples import records
from kibitz.evaluation.slices import PHASES
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.positions import Batch
from kibitz.systems.movers.nets import PIECES, MoveNets
from kibitz.text import rounded

POINTS = 1500
FEWEST = 12
"""The smallest number of positions for a map; fewer positions would show nothing."""
LENGTH = 80
"""The preferred number of moves (plies) of the game that is shown as a path."""
STEPS, PERPLEXITY, BATCH_SIZE = 600, 30, 256


def landscape(
    run: Run, session: Session, results: PolicyResults, seed: int, log: Callable[[str], None]
) -> dict[str, Any] | None:
    """Return a map (t-SNE) of some tested positions, computed from the outputs of the network's last hidden layer. If
    no map can be made, log the reason and return None. The result has these keys:

    points: [x, y, group] of each position. The group is an index into `groups`.
    groups: the names of the groups, which are the phases of the game.
    course: [x, y] of every position of one game, in order.
    game: the players of this game, as text.
    """
    network = cast(MoveNets, run.load_network())
    if network.piece_plane and network.shared is None and network.names[0] in PIECES:
        log("the t-SNE picture is skipped: without the piece selector, each layer belongs to one type of piece")
        return None
    order = np.random.default_rng(seed).permutation(len(results.games))[:POINTS]
    if len(order) < FEWEST:
        log(f"the t-SNE picture is skipped: {len(order)} positions are too few")
        return None
    lengths = results.store.plies[results.games]
    game = int(results.games[np.abs(lengths - LENGTH).argmin()])
    course = np.arange(int(results.store.plies[game]) + 1)
    games = np.concatenate([results.games[order], np.full(len(course), game)])
    plies = np.concatenate([results.plies[order], course])
    codes, state = results.store.replay(games, plies)
    state = with_side_inputs(session, results.settings, results.store, Batch(codes, state, games, plies))
    spots = _flattened(_features(network, codes, state), seed)
    if spots is None:
        log("the t-SNE picture is skipped: the last hidden layer is the same in all positions")
        return None
    record = records(results.store, [game])[game]
    names = " – ".join(str(record.headers.get(side) or "?") for side in ("white", "black"))
    date = record.headers.get("date")
    return {
        "points": [[*spot, int(group)] for spot, group in zip(spots, results.marks["phase"][order], strict=False)],
        "groups": list(PHASES),
        "course": spots[len(order) :],
        "game": f"{names}{f', {date}' if date else ''} ({len(course) - 1} {'ply' if len(course) == 2 else 'plies'})",
    }


def _features(network: MoveNets, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.float32]:
    with torch.inference_mode():
        parts = [
            network.features(
                torch.from_numpy(codes[start : start + BATCH_SIZE]), torch.from_numpy(state[start : start + BATCH_SIZE])
            )
            for start in range(0, len(codes), BATCH_SIZE)
        ]
    return torch.cat(parts).float().numpy()


def _flattened(features: NDArray[np.float32], seed: int) -> list[list[float]] | None:
    """Return coordinates, [n, 2], of features, [n, k]; None if all features are equal."""
    from sklearn.manifold import TSNE  # importing sklearn takes a second, and only this function needs it

    if features.shape[1] < 2 or not (features.std(0) > 1e-6).any():
        return None
    near = min(PERPLEXITY, (len(features) - 1) / 3)
    tsne = TSNE(perplexity=near, init="pca", max_iter=STEPS, random_state=seed)
    return [[rounded(float(x), 2), rounded(float(y), 2)] for x, y in tsne.fit_transform(features)]
