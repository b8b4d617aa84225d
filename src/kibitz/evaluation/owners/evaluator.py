"""The examination of `gocnn`: how many points it gives to the right side, when, and what the score then is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import Plan, Table, Tell
from kibitz.evaluation.batches import draw, gather
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.owners.baselines import Beside, as_baselines, beside, table
from kibitz.evaluation.owners.points import BINS, KINDS, LINES, SURE
from kibitz.evaluation.owners.results import Sheet, measure, owners_of
from kibitz.evaluation.owners.samples import shown
from kibitz.evaluation.slices import as_by
from kibitz.play.go.ownership import AllWays
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run
from kibitz.stats import Figure, binned_reliability, slices
from kibitz.store.positions import Positions
from kibitz.store.store import Store

TOGETHER = 512
"""Positions measured at once; a large network takes a second for them."""

MOVES = (*range(0, 301, 20), np.inf)
STEP, FEWEST = 10, 10
"""The curve has a point every so many moves, as long as so many games (or all, if they are fewer) last."""
STAGES = tuple(f"{10 * i} to {10 * i + 10}%" for i in range(10))
RANKS = (-np.inf, -8, 1, 4, 7, 20, np.inf)
RANK_WORDS = ("10 kyu and weaker", "9 to 1 kyu", "1 to 3 dan", "4 to 6 dan", "7 to 9 dan", "professional")
"""Ranks as numbers: 1 kyu is 0, 1 dan 1, a professional's 1 dan 21."""


def examine(
    run: Run, store: Store, chosen: Chosen, plan: Plan, tell: Tell, say: Callable[[str], None]
) -> dict[str, Any]:
    """The system's part of a result, see `kibitz.evaluation.Examination`.

    Figures over points are sums over all points whose final owner is known, so that a large board counts more than a
    small one; figures over positions (score, winner) count each position once.
    """
    session: NetworkSession = AllWays(Session(run)) if plan.all_ways else Session(run)
    owners = owners_of(store)
    positions = Positions(store, chosen.games)
    numbers = draw(positions, plan.positions, plan.seed)
    found = gather(
        positions, numbers, lambda batch: measure(session, owners, batch),
        lambda done, total: tell("positions", done, total), TOGETHER,
    )  # fmt: skip
    sheet = Sheet(store, *positions.locate(numbers), found)
    data = describe(store, chosen, len(numbers), len(positions))
    data["points_tested"] = int(found["known"].sum(dtype=np.int64))
    data["note"] = note(store, chosen.games)
    others = beside(sheet, session, chosen.games, plan, tell, say)
    tell("figures", 0, 1)
    result = {
        "data": data,
        "headline": "accuracy",
        "figures": {name: figure.as_json() for name, figure in figures(sheet).items()},
        "by": by(sheet),
        "calibration": binned_reliability(found["predicted"], found["black"], found["counts"], sheet.groups),
        "baselines": as_baselines(others),
        "tables": [through(sheet), table(others)],
        "curves": [by_move(sheet, others)],
        "texts": TEXTS,
        **shown(sheet, session, plan.seed),
    }
    tell("figures", 1, 1)
    return result


TEXTS = {
    "baselines": "How many points simpler answers have right. Where one was asked about other positions, the "
    "network's figure on those very positions stands below it.",
    "calibration": "Where the network gives Black a chance of owning a point, how often does he own it at the end? "
    "On the dashed line, just as often.",
    "by": "The share of points right over parts of the positions, and over parts of the points of all positions: how "
    "sure the network is of a point, what stands there, and on which line from the edge it lies. The dashed line is "
    "the figure over all points.",
    "gallery": "Games at several stages. A square's colour says whom the network gives the point to, its size how "
    "surely; a cross marks a point that the other side owns at the end. The last move has a ring. Points are surely "
    f"wrong where the wrong side was given {SURE:.0%} or more.",
    "mistakes": f"Positions from the second half of a game in which most points were surely given ({SURE:.0%} and "
    "more) to the wrong side.",
    "games": "The games of these positions; the curve is the share of points right after every move.",
    "course": "Share of points right after every move, 0 below and 1 above",
    "counted": "points",
}


def figures(sheet: Sheet) -> dict[str, Figure]:
    """The system's figures by name."""
    marks = sheet.marks
    last = sheet.plies == sheet.store.plies[sheet.games]
    return {
        "accuracy": sheet.accuracy(),
        "accuracy_in_last_tenth": sheet.accuracy(sheet.stage == 9),
        "accuracy_after_last_move": sheet.accuracy(last),
        "squared_error": sheet.squared_error(),
        "calibration_error": sheet.groups.binned_calibration_error(
            marks["predicted"] - marks["black"].astype(np.float64), marks["known"]
        ),
        "score_error": sheet.score_error(),
        "winner_accuracy": sheet.winner_accuracy(),
    }


def through(sheet: Sheet) -> Table:
    """The table of the figures by tenths of the game."""
    rows: list[list[Any]] = []
    for stage, words in enumerate(STAGES):
        mask = sheet.stage == stage
        if mask.any():
            of = (sheet.accuracy, sheet.squared_error, sheet.score_error, sheet.winner_accuracy)
            rows.append([words, *(figure(mask).as_json() for figure in of), int(mask.sum())])
    told = sheet.winner_accuracy(score=sheet.area).value
    exact = "" if np.isnan(told) else f" The final owners themselves tell {told:.1%} of the winners."
    return {
        "title": "Through the game",
        "text": "By tenths of the game's moves. The score is Black's points less White's, the sum of the predictions "
        "over the whole board; its error is against the final owners, in points. Winners are told by that score under "
        f"the game's rules, after komi.{exact}",
        "heading": "stage",
        "columns": ["points right", "squared error", "score error", "right winner", "positions"],
        "kinds": ["share", "error", "score", "share", "count"],
        "rows": rows,
    }


def by_move(sheet: Sheet, others: list[Beside]) -> dict[str, Any]:
    """The curve of accuracy by move number, the network's and that of each simpler answer."""
    groups = sheet.groups
    needed = min(FEWEST, groups.games)
    lines = [{"name": "the network", "points": _course(sheet, None, STEP, needed)}]
    for one in others:
        step = STEP if one.network is sheet else 1  # those come every 20 moves, exactly
        name = one.name.partition(" (")[0].partition(",")[0]
        lines.append({"name": name, "points": _course(one.network, one.own, step, needed)})
    return {
        "title": "Through the moves",
        "text": "The share of points right by the number of moves played, with 95% intervals. Late moves are those of "
        f"long games; the lines end where fewer than {needed} games last.",
        "heading": "moves played",
        "lines": lines,
    }


def _course(sheet: Sheet, of: dict[str, NDArray[Any]] | None, step: int, needed: int) -> list[list[Any]]:
    """[move number, figure] for each band of moves of which enough games have positions."""
    band = sheet.plies // step
    points: list[list[Any]] = []
    for number in np.unique(band).tolist():
        figure = sheet.accuracy(band == number, of)
        if figure.games >= needed:
            points.append([number * step + (step - 1) / 2, figure.as_json()])
    return points


def by(sheet: Sheet) -> dict[str, list[dict[str, Any]]]:
    """Accuracy over parts of the positions and of their points; parts without any are left out, and tables of one
    part."""
    marks, groups = sheet.marks, sheet.groups
    right, known = marks["right"], marks["known"]

    def over_positions(key: NDArray[Any], **parts: Any) -> list[dict[str, Any]]:
        return slices(right, groups, key, over=known, **parts)

    def over_points(names: Any, right: NDArray[Any], known: NDArray[Any]) -> list[dict[str, Any]]:
        found = [groups.mean(right[:, i], over=known[:, i]) for i in range(len(names))]
        return [{"slice": name, "figure": figure} for name, figure in zip(names, found, strict=True)]

    counts, black = marks["counts"].astype(np.int64), marks["black"].astype(np.int64)
    for_black, for_white = slice(BINS // 2, None), slice(BINS // 2 - 1, None, -1)  # from the least sure bin on
    white_right = counts[:, for_white] - black[:, for_white]
    sure = [f"{50 + 10 * i} to {60 + 10 * i}% sure" for i in range(BINS // 2)]
    tables = {
        "move number": over_positions(sheet.plies, edges=MOVES),
        "stage": over_positions(sheet.stage, labels=STAGES),
        "confidence": over_points(sure, black[:, for_black] + white_right, counts[:, for_black] + counts[:, for_white]),
        "point": over_points(KINDS, marks["kind_right"], marks["kind_known"]),
        "line": over_points([str(i + 1) for i in range(LINES)], marks["line_right"], marks["line_known"]),
        "side to move": over_positions(marks["side"], labels=("Black", "White")),
        "weaker player": over_positions(_rank(sheet), edges=RANKS, labels=RANK_WORDS),
        "handicap": over_positions(sheet.of_game("handicap"), edges=(0, 1, 4, 7, np.inf)),
    }
    for name, column in (("board", "size"), ("rules", "rules"), ("owners told by", "labels")):
        words = [str(value) if value is not None else "unknown" for value in sheet.store.column(column)]
        labels = sorted({words[game] for game in np.unique(sheet.games)}, key=lambda word: (len(word), word))
        numbers = np.array([labels.index(word) if word in labels else -1 for word in words])
        tables[name] = over_positions(numbers[sheet.games], labels=labels)
    return {name: rows for name, rows in as_by(tables).items() if len(rows) > 1}


def rank_number(rank: str | None) -> float:
    """A rank as a number, see RANKS; NaN for none and for what is no rank."""
    if not rank or not rank[:-1].isdecimal() or rank[-1] not in "kdp":
        return np.nan
    number = int(rank[:-1])
    return {"k": 1 - number, "d": number, "p": 20 + number}[rank[-1]]


def _rank(sheet: Sheet) -> NDArray[np.float64]:
    """The weaker player's rank in each position; NaN where one is not known."""
    black, white = (
        np.array([rank_number(rank) for rank in sheet.store.column(f"{side}_rank")], np.float64)
        for side in ("black", "white")
    )
    return np.asarray(np.minimum(black, white)[sheet.games])


def note(store: Store, games: NDArray[np.int64]) -> str:
    """What must be said with the figures: where the games differ from the text's, and who told the owners."""
    lines = [
        "The paper's figure is over all positions of 150 games of strong players, 19 × 19, even and counted, and over "
        "all points, neutral ones with an owner drawn at random; here points that nobody owns are left out."
    ]
    counted = store.column("ending")[games] == "counted"
    size, handicap = store.column("size")[games], store.column("handicap")[games]
    for words, like in (
        ("on 19 × 19", size == 19),
        ("even", handicap == 0),
        ("counted at their end", counted),
    ):
        if not like.all():
            lines.append(f"Of these games, {np.mean(like):.1%} are {words}.")
    told = Counter("nobody" if name is None else str(name) for name in store.column("labels")[games])
    lines.append(f"Who owns what was told by {' and '.join(_told(told))}.")
    if bundled := bundled_note(store, games):
        lines.append(bundled)
    return " ".join(lines)


def _told(told: Counter[str]) -> list[str]:
    names = {"playouts": "random playouts that agree with the written result", "gnugo": "GNU Go"}
    total = sum(told.values())
    return [
        names.get(name, name) + (f" ({count / total:.1%} of the games)" if len(told) > 1 else "")
        for name, count in told.most_common()
    ]
