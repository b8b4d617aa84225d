"""The boards and games of a territory test that its result page shows as examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.owners.results import OwnerResults, measure, owners_of
from kibitz.games.go.points import GRID, to_gtp
from kibitz.games.go.replay import SIZE, colours_of
from kibitz.play.go.ownership import OUTPUT
from kibitz.play.session import NetworkSession
from kibitz.store.positions import Batch
from kibitz.store.store import Store

MOMENTS = (
    (0.1, "After a tenth of the game"), (0.25, "After a quarter"), (0.5, "Half-way"), (0.75, "After three quarters"),
    (1.0, "After the last move"),
)  # fmt: skip
"""The moments of a game at which the page shows boards: the share of the moves that were played, and a text."""
AT_EACH, MISTAKES = 4, 12
NEAR = 0.02
"""The largest distance of a shown position from a moment of MOMENTS, as a share of the game's moves."""

_STONES, _OWNERS = np.array(list(".XO")), np.array(list("-XO"))
_ENDINGS = {"resignation": "R", "time": "T", "forfeit": "F"}


def board(
    size: int, colours: NDArray[np.uint8], chance: NDArray[np.float32], owner: NDArray[np.uint8]
) -> dict[str, Any]:
    """Return a position as JSON for the result page.

    size: the board's size.
    colours, owner: [361], the stones and the final owners: 1 black, 2 white, 0 neither.
    chance: float32 [361], the predicted probability that each point belongs to Black at the end, 0 to 1.

    The result has these keys. Each value except `size` is a list with one text for each row of the board, from the top.

    size: the board's size.
    stones: "X" for a black stone, "O" for a white stone, "." for an empty point.
    owners: the owner of each point at the end of the game: "X" for Black, "O" for White, "-" for neutral or unknown.
    black_owns: the predicted probability that each point belongs to Black at the end, in percent. Spaces separate the
        numbers.
    """
    grid = (slice(size), slice(size))
    stones, final = (values.reshape(GRID, GRID)[grid] for values in (colours, owner))
    percents = np.rint(100 * chance.reshape(GRID, GRID)[grid]).astype(int)
    return {
        "size": size,
        "stones": ["".join(row) for row in _STONES[stones]],
        "owners": ["".join(row) for row in _OWNERS[final]],
        "black_owns": [" ".join(map(str, row)) for row in percents],
    }


def result_text(row: dict[str, Any]) -> str:
    """Format the result of a game as in SGF, such as "B+3.5" or "W+R". row: the game's row in the store's table of
    games, as a dict.
    """
    if not row["result"]:
        return "0" if row["ending"] == "counted" else "void"
    points = f"{row['margin']:g}" if row["margin"] is not None else _ENDINGS.get(row["ending"], "")
    return ("B+" if row["result"] > 0 else "W+") + points


def headers(row: dict[str, Any]) -> dict[str, Any]:
    """Return the players, their ranks and the date of a game, as a dict with the keys that the result page uses. The
    ranks are stored under the keys for ratings, "white_rating" and "black_rating".

    row: the game's row in the store's table of games, as a dict.
    """
    return {
        "white": row["white"],
        "black": row["black"],
        "white_rating": row["white_rank"],
        "black_rating": row["black_rank"],
        "date": str(row["date"]) if row["date"] else None,
    }


def page_samples(results: OwnerResults, session: NetworkSession, seed: int) -> dict[str, Any]:
    """Return the examples for the result page by their JSON keys: sample positions, the positions with the largest
    mistakes, and the games of these mistakes.
    """
    gallery = [_at(results, share, seed + i) for i, (share, _) in enumerate(MOMENTS)]
    mistakes = _worst(results)
    every = [*(i for band in gallery for i in band), *mistakes]
    numbers = sorted({int(results.games[i]) for i in every})
    games = results.store.table().take(numbers).to_pylist() if numbers else []
    known = dict(zip(numbers, games, strict=True))
    rows = dict(zip(every, _positions(results, session, np.array(every, np.int64), known), strict=True))
    return {
        "gallery": [
            {"title": title, "positions": [rows[i] for i in band]}
            for (_, title), band in zip(MOMENTS, gallery, strict=True)
            if band
        ],
        "mistakes": [rows[i] for i in mistakes],
        "games": {
            str(game): _story(results.store, session, game, known[game])
            for game in (int(results.games[i]) for i in mistakes)
        },
    }


def _at(results: OwnerResults, share: float, seed: int) -> list[int]:
    """Return positions near the share `share` of their game's moves, from a few random games.

    If a test has few positions, most games have no position near this share. Then the
    positions nearest to the share are used.
    """
    away = np.abs(results.plies / np.maximum(1, results.store.plies[results.games]) - share)
    drawn = np.random.default_rng(seed).permutation(len(away))
    near = NEAR if share < 1 else 0.0  # the last stage must be the position after the last move itself
    order = drawn[np.argsort(np.maximum(away[drawn], near), kind="stable")]
    _, first = np.unique(results.games[order], return_index=True)
    return sorted(order[np.sort(first)][:AT_EACH].tolist())


def _worst(results: OwnerResults) -> list[int]:
    """Return the positions with the most certain wrong predictions, one per game. All of these positions are from the
    second half of their game.
    """
    wrong = np.where(results.stage >= 5, results.marks["surely_wrong"].astype(np.int64), 0)
    order = np.lexsort((results.plies, -wrong))
    _, first = np.unique(results.games[order], return_index=True)
    return [int(i) for i in order[np.sort(first)][:MISTAKES] if wrong[i]]


def _positions(
    results: OwnerResults, session: NetworkSession, some: NDArray[np.int64], known: dict[int, dict[str, Any]]
) -> Iterable[dict[str, Any]]:
    """Return these positions in the form for the page."""
    store, games, plies = results.store, results.games[some], results.plies[some]
    codes, state = store.replay(games, plies)
    chance, owners, colours = session.evaluate(codes, state)[OUTPUT], owners_of(store), colours_of(codes)
    for i, (game, ply) in enumerate(zip(games.tolist(), plies.tolist(), strict=True)):
        size = int(state[i, SIZE])
        mark = {name: float(results.marks[name][some[i]]) for name in ("right", "known", "surely_wrong")}
        words = "of the intersections right"
        if mark["surely_wrong"]:
            words += f", {mark['surely_wrong']:.0f} confident errors"
        yield {
            "board": board(size, colours[i], chance[i], owners[game]),
            "probability": round(mark["right"] / max(mark["known"], 1), 4),
            "probability_of": words,
            "result": result_text(known[game]),
            "game": str(game),
            "ply": ply,
            "last_move": to_gtp(int(store.moves[store.offsets[game] + ply - 1]), size) if ply else None,
            **headers(known[game]),
        }


def _story(store: Store, session: NetworkSession, game: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return a game in the form for the page. Its curve is the accuracy after each move."""
    plies = np.arange(store.plies[game] + 1)
    games = np.full(len(plies), game)
    batch = Batch(*store.replay(games, plies), games, plies)
    marks = measure(session, owners_of(store), batch)
    size = int(batch.state[0, SIZE])
    moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
    return {
        **headers(row),
        "event": row["event"],
        "result": result_text(row),
        "link": None,
        "numbered": 10,
        "moves": [to_gtp(move, size) for move in moves],
        "curve": [round(float(share), 4) for share in marks["right"] / np.maximum(marks["known"], 1)],
    }
