"""Choose and describe the games for a test: by default, the games that the network has not used in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.games import GAME_NAMES
from kibitz.messages import not_one_of
from kibitz.runs import Run
from kibitz.store.split import TEST, TRAIN, VALIDATE
from kibitz.store.store import Store
from kibitz.text import number_of

CHOICES = ("unseen", "test", "validation", "training", "all")
BUNDLED = "kibitz bundled games"
"""The name of the event in the headers of the games that are bundled with kibitz."""
PLAYER = {"chess": "Stockfish", "go": "GNU Go"}
"""The program that played the bundled games, by game."""


@dataclass(frozen=True)
class Chosen:
    """The games of a test.

    games: int64 [n], the chosen games, as ascending indices in the store.
    taken: the number of the store's games that this kind of network can use.
    seen: the number of chosen games that the network has used in training.
    excluded: the number of games that were not chosen because the network has used them in training.
    words: a description of the chosen games, for readers of the result.
    """

    games: NDArray[np.int64]
    taken: int
    seen: int
    excluded: int
    words: str


def choose(run: Run, store: Store, which: str = "unseen") -> Chosen:
    """Choose the games of a store on which a network is tested.

    run: the network. store: the database of games. which: the name of a choice.

    "unseen" or "test" selects the games that the network has used neither to train nor to select weights. In the store
    of the network's training, these games are the test split. "validation" selects the games that the network's rule
    for splitting assigns to validation. "training" selects the network's training games, and "all" selects all games
    that this kind of network can use.

    Raises UsageError for an unknown choice, or if a chess network gets a store of Go games or the reverse. Raises
    KibitzError if no game is left.
    """
    if which not in CHOICES:
        raise UsageError(not_one_of("--split", which, CHOICES))
    if store.game != run.info["game"]:
        raise UsageError(
            f"{store.path} is a store of {GAME_NAMES[store.game]} games, and {run.name} is a network for"
            f" {GAME_NAMES[run.info['game']]}. Choose another store."
        )
    taken = run.system.games(store, run.settings)
    unseen = run.unseen_games(store, taken)
    split = run.info["data"]["split_in_words"]
    same = store.fingerprint == run.info["data"]["fingerprint"]
    excluded = 0
    if which in ("unseen", "test"):
        games, excluded = taken[unseen], int((~unseen).sum())
        words = f"test games of its split {split}" if same else "games that the network has not seen"
    elif which == "validation":
        games = taken[store.sides(run.split)[taken] == VALIDATE]
        words = f"validation games of its split {split}"
        if same:
            words += ", which also selected the weights"
    elif which == "training":
        games = taken[~unseen & (store.sides(run.split)[taken] == TRAIN)]
        words = f"training games of its split {split}"
    else:
        games, words = (
            taken,
            f"all games, of which {int((~unseen).sum()):,} are training or validation games of the network",
        )
    if not len(games):
        raise KibitzError(_nothing(run, store, which, len(taken), excluded))
    seen = int(np.isin(games, taken[~unseen]).sum())
    return Chosen(games, len(taken), seen, excluded, words)


def choose_without_run(store: Store, which: str = "unseen") -> Chosen:
    """Choose the games of a store on which an engine is tested. It is not known which games the engine has been trained
    on.

    which: "unseen" and "all" select all games. "training", "validation" and "test" select this part of the store's
    split. Raises UsageError for an unknown choice, and KibitzError if no game is left.
    """
    sides = {"test": TEST, "validation": VALIDATE, "training": TRAIN}
    if which not in CHOICES:
        raise UsageError(not_one_of("--split", which, CHOICES))
    taken = np.flatnonzero(store.plies > 0)
    games = taken[store.sides(store.split)[taken] == sides[which]] if which in sides else taken
    if not len(games):
        raise KibitzError(
            f"{store.path} has no game to test on ({number_of(len(taken), 'game')}, --split {which}). Try --split all."
        )
    words = f"{which} games of the store's split" if which in sides else "all games"
    return Chosen(games, len(taken), 0, 0, words)


def _nothing(run: Run, store: Store, which: str, taken: int, excluded: int) -> str:
    if not taken:
        its = number_of(len(store), "game")
        return f"{store.path}: {run.info['system']} can use none of its {its}. Choose another store."
    its = number_of(taken, "game")
    if which == "validation":
        return f"{store.path}: none of its {its} is a validation game of this run. Choose another --split."
    if which == "training":
        return f"{store.path}: none of its {its} is a training game of this run. Choose another --split."
    names = f"{run.name} or of {base}, its initial network" if (base := run.info.get("base")) else run.name
    return (
        f"{store.path}: each game ({excluded:,}) is a training or validation game of {names}. Choose another"
        " store, or use --split all to test on these games."
    )


def bundled_note(store: Store, games: NDArray[np.int64]) -> str | None:
    """Return a note for readers of the result if most of the games are the engine games that are bundled with kibitz.
    Otherwise, return None.

    games: int64 [n], indices in the store.
    """
    count = int(np.count_nonzero(store.column("event")[games] == BUNDLED))
    if 2 * count <= len(games):
        return None
    which = "All of these games" if count == len(games) else f"{count:,} of these {number_of(len(games), 'game')}"
    return (
        f"{which} are bundled with kibitz: {PLAYER[store.game]} played itself at limited strength. Results on engine "
        "games can't be compared with the paper's, or with results on games of people."
    )


def describe(store: Store, chosen: Chosen, positions: int, total: int) -> dict[str, Any]:
    """Return the description of the tested games and positions, which is the dict "data" of a result.

    chosen: the games. positions: the number of tested positions. total: the number of all positions in these games.
    """
    words = chosen.words
    if positions < total:
        words += f"; {positions:,} of their {number_of(total, 'position')}, chosen at random"
    return {
        "store": str(store.path),
        "fingerprint": store.fingerprint,
        "games": len(chosen.games),
        "positions": total,
        "positions_tested": positions,
        "seen_games": chosen.seen,
        "seen_games_left_out": chosen.excluded,
        "split": words,
    }
