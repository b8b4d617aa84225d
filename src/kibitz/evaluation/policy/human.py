"""The examination of `human`: moves and results by rating, what ratings are worth, and what a lost piece is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import Plan, Table, Tell
from kibitz.evaluation.baselines import Yardstick, baseline
from kibitz.evaluation.batches import draw, gather
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.policy.handicaps import handicaps
from kibitz.evaluation.samples import Picker, position, records
from kibitz.evaluation.slices import PHASES, as_by, by_speed
from kibitz.evaluation.stockfish import Answer
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import BEYOND, RATING, RATING_UNIT, rating_bytes, scale_codes, side_inputs, speed_codes
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.runs import Run, packaged
from kibitz.stats import ByGame, Figure, log_loss, reliability, slices
from kibitz.store.positions import Batch, Positions
from kibitz.store.split import TRAIN
from kibitz.store.store import Store
from kibitz.systems.winner import phase

BANDS = (0, *range(800, 2801, 200), 4000)
"""Bounds of the bands of rating."""
ASKED = (1000, 1400, 1800, 2200, 2600)
"""Ratings that the network is asked for, whoever the players are."""
OPENING = 20
"""Plies of the opening."""
COMPARED = 100_000
"""Positions at most that are asked about again: with other ratings, with none, and another network."""
ASKED_POSITIONS = 2_000
"""Positions of each band at most, for the table of asked ratings."""
COUNTED = 10_000
"""Games at most in which moves are counted for the baseline of the most frequent one."""
BESIDE = "chessnet"
"""The packaged network that stands beside."""
SHOWN = 12
PLIES = (0, OPENING, 40, 60, 80, np.inf)
FIT, LEAST_DIFFERENCE = 1200, 0.15
"""Ratings whose expected moves the gallery compares (with 2200), and how far the probability must lie apart."""


@dataclass(frozen=True)
class Sheet:
    """The tested positions, one entry of each array a position, in each of which a move was played.

    games, plies: where they are; marks: as `measure` gives them; rating, opponent: of the mover and the other side,
    −1 unknown; result: for the mover, 1, 0, −1.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    marks: dict[str, NDArray[Any]]
    groups: ByGame
    rating: NDArray[np.int64]
    opponent: NDArray[np.int64]
    result: NDArray[np.int64]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Where the likeliest move was played."""
        return cast("NDArray[np.bool_]", self.marks["rank"] == 1)


class Asker:
    """Asks the network about positions of a store, with the players' ratings or others."""

    def __init__(self, session: Session, store: Store):
        self.session, self.store = session, store
        self.ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        self.speeds, self.scales = speed_codes(store), scale_codes(store)

    def told(self, batch: Batch) -> NDArray[np.uint8]:
        """The state with all that is known of the games."""
        side = batch.state[:, SIDE].astype(np.int64)
        at = self.store.offsets[batch.games] + batch.plies
        more = side_inputs(
            self.ratings[side, batch.games], self.ratings[1 - side, batch.games], self.speeds[batch.games],
            self.scales[batch.games], self.store.moves, at, batch.plies,
        )  # fmt: skip
        return np.concatenate([batch.state, more], 1)

    def measure(self, batch: Batch, state: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """What the network makes of each move that was played: chance, its probability among the legal moves; rank
        from 1; best, the likeliest move, and surest, its probability; win, draw, loss of the mover."""
        answers = self.session.evaluate(batch.codes, state)
        played = self.store.moves[self.store.offsets[batch.games] + batch.plies]
        found = ranked(answers, batch, played)
        if "outcome" in answers:
            found |= {name: answers["outcome"][:, i] for i, name in enumerate(("win", "draw", "loss"))}
        return found


def ranked(
    answers: dict[str, NDArray[np.float32]], batch: Batch, played: NDArray[np.uint16]
) -> dict[str, NDArray[Any]]:
    """Where the played moves stand among the legal ones: chance, rank, best, surest and choices, [n] each."""
    moves, offsets = legal_moves(batch.codes, batch.state)
    shares = normalised(move_probabilities(answers, batch.codes, moves, offsets), offsets)
    sizes = np.diff(offsets)
    rows = np.repeat(np.arange(len(played)), sizes)
    at = np.flatnonzero(moves == played[rows])
    if len(at) != len(played):
        raise KibitzError("a played move is not among the legal ones; import the games again")
    chance = shares[at]
    order = np.arange(len(moves))
    before = (shares > chance[rows]) | ((shares == chance[rows]) & (order < at[rows]))
    best = np.maximum.reduceat(shares, offsets[:-1])
    first = np.minimum.reduceat(np.where(shares == best[rows], order, len(moves)), offsets[:-1])
    return {
        "chance": chance,
        "rank": (1 + np.add.reduceat(before, offsets[:-1])).astype(np.int16),
        "best": moves[first],
        "surest": best,
        "choices": sizes.astype(np.int16),
    }


def examine(
    run: Run, store: Store, chosen: Chosen, plan: Plan, tell: Tell, say: Callable[[str], None]
) -> dict[str, Any]:
    """The system's part of a result, see `kibitz.evaluation.Examination`."""
    session = Session(run)
    asker = Asker(session, store)
    positions = Positions(store, chosen.games, last=-2)
    numbers = draw(positions, plan.positions, plan.seed)

    def marks(batch: Batch) -> dict[str, NDArray[Any]]:
        found = asker.measure(batch, asker.told(batch))
        return found | {"side": batch.state[:, SIDE], "phase": phase(torch.from_numpy(batch.codes)).numpy()}

    found = gather(positions, numbers, marks, lambda done, total: tell("positions", done, total))
    games, plies = positions.locate(numbers)
    side = found["side"].astype(np.int64)
    known = np.where(asker.ratings > 0, asker.ratings, -1)
    sheet = Sheet(
        store, games, plies, found, ByGame(games), known[side, games], known[1 - side, games],
        store.column("result")[games].astype(np.int64) * (1 - 2 * side),
    )  # fmt: skip
    data = describe(store, chosen, len(numbers), len(positions))
    if note := bundled_note(store, chosen.games):
        data["note"] = note
    elif (share := float(np.mean((sheet.rating > 0) & (sheet.opponent > 0)))) < 1:
        data["note"] = f"Both ratings are known in {share:.1%} of these positions; elsewhere the network was told none."
    figures, tables = _figures(sheet)
    some = np.sort(np.random.default_rng(plan.seed).permutation(len(numbers))[:COMPARED])
    more, again = compared(sheet, asker, positions, numbers, some, plan.seed, tell)
    figures |= more
    figures_by, table = beside_chessnet(sheet, positions, numbers, some, say, tell)
    figures_by |= _usual(run, sheet, positions, numbers, some, say, tell)
    tables += [again, *table, *_asked(sheet, asker, positions, numbers, plan.seed, tell)]
    values, of_pieces = handicaps(session, store, chosen.games, plan.seed)
    figures |= values
    tables.append(of_pieces)
    random = {"random_move": baseline("a random legal move", sheet.groups.mean(1 / sheet.marks["choices"]))}
    played = store.moves[store.offsets[games] + plies]

    def agrees(answers: Sequence[Answer], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        wanted = (to_move(int(move)).uci() for move in played[which])
        return np.array([answer.move == move for answer, move in zip(answers, wanted, strict=True)])

    yardstick = Yardstick(plan, session.threads, tell, say)
    main = ["accuracy", "accuracy_at_3", "accuracy_at_5", "log_loss", "perplexity", "winner_accuracy"]
    return {
        "data": data,
        "headline": "accuracy",
        "main": [name for name in main if name in figures],
        "figures": {name: figure.as_json() for name, figure in figures.items()},
        "by": by(sheet),
        "baselines": random | figures_by | yardstick.beside(store, games, plies, sheet.right, agrees),
        "calibration": reliability(sheet.marks["surest"], sheet.right, sheet.groups),
        "tables": tables,
        "texts": {
            "by": "How often the likeliest legal move is the move that was played; the rating is the mover's. The "
            "dashed line is the accuracy over all positions.",
            "calibration": "When the network gives its first choice a probability, how often is that move played?",
            "gallery": "Positions in which a player of 1200 and one of 2200 are expected to play differently. The "
            "probability is that of the move that the stronger one is expected to play, when the weaker one is asked.",
            "mistakes": "Where the network was surest of a move, and another was played.",
        },
        **shown(sheet, asker, positions, numbers, plan.seed),
    }


# Figures


def _figures(sheet: Sheet) -> tuple[dict[str, Figure], list[Table]]:
    """Every figure of the main pass by name, and its tables."""
    marks, groups = sheet.marks, sheet.groups
    loss = log_loss(marks["chance"], 1)
    columns = [marks["rank"] <= k for k in (1, 3, 5)]
    one, three, five, nats = groups.means([*columns, loss])
    figures = {
        "accuracy": one, "accuracy_at_3": three, "accuracy_at_5": five, "log_loss": nats,
        "perplexity": _exp(nats),
    }  # fmt: skip
    edges = list(itertools.pairwise(BANDS))
    rows = []
    for low, high in edges:
        inside = (sheet.rating >= max(low, 1)) & (sheet.rating < high)
        if not inside.any():
            continue
        row = groups.means([*columns, loss], inside)
        rows.append([_band(low, high), *(figure.as_json() for figure in row), float(np.exp(row[3].value)), row[0].n])
    tables: list[Table] = [{
        "title": "Moves by rating",
        "text": "How often the played move is among the first k choices, its log loss in nats, and the perplexity "
        "e^loss: among how many equally likely moves the network in effect has to choose. The rating is the mover's.",
        "heading": "rating",
        "columns": ["@1", "@3", "@5", "log loss", "perplexity", "moves"],
        "kinds": ["share", "share", "share", "number", "number", "count"],
        "rows": rows,
    }]  # fmt: skip
    if "win" in marks:
        more, table = _outcomes(sheet, edges)
        figures |= more
        tables.append(table)
    return figures, tables


def _exp(figure: Figure) -> Figure:
    value, low, high = (float(np.exp(end)) for end in (figure.value, figure.low, figure.high))
    return Figure(value, low, high, figure.n, figure.games)


def _band(low: int, high: int) -> str:
    return f"under {high}" if low <= 0 else f"{low} and over" if high >= BANDS[-1] else f"{low} to {high - 1}"


def _winner(marks: dict[str, NDArray[Any]], result: NDArray[np.int64]) -> NDArray[np.float64]:
    """How right the side is that is likelier to win: 1, 0, one half where neither is."""
    ahead = marks["win"] - marks["loss"]
    return np.where(ahead == 0, 0.5, (ahead > 0) == (result > 0))


def _outcomes(sheet: Sheet, edges: Sequence[tuple[int, int]]) -> tuple[dict[str, Figure], Table]:
    """Figures of win, draw, loss, and their table by rating."""
    marks, groups = sheet.marks, sheet.groups
    decided = sheet.result != 0
    given = np.select([sheet.result > 0, sheet.result == 0], [marks["win"], marks["draw"]], marks["loss"])
    loss = log_loss(given, 1)
    winner = _winner(marks, sheet.result)
    figures = {
        "outcome_log_loss": groups.mean(loss),
        "outcome_log_loss_of_shares": groups.mean(_share_loss(sheet.result)),
    }
    if decided.any():
        figures["winner_accuracy"] = groups.mean(winner, decided)
        rated = decided & (sheet.rating > 0) & (sheet.opponent > 0)
        if rated.any():
            gap = sheet.rating - sheet.opponent
            higher = np.where(gap == 0, 0.5, (gap > 0) == (sheet.result > 0))
            figures["winner_accuracy_of_higher_rating"] = groups.mean(higher, rated)
            figures["winner_accuracy_where_rated"] = groups.mean(winner, rated)
    figures["win_calibration_error"] = groups.calibration_error(marks["win"], sheet.result > 0)
    figures["first_choice_calibration_error"] = groups.calibration_error(marks["surest"], sheet.right)
    rows = []
    for low, high in edges:
        inside = (sheet.rating >= max(low, 1)) & (sheet.rating < high)
        if not inside.any():
            continue
        own = ByGame(sheet.games[inside])
        cells = [
            own.mean(winner[inside], decided[inside]), own.mean(loss[inside]),
            own.calibration_error(marks["win"][inside], sheet.result[inside] > 0),
            own.calibration_error(marks["draw"][inside], sheet.result[inside] == 0),
            own.calibration_error(marks["surest"][inside], sheet.right[inside]),
        ]  # fmt: skip
        rows.append([_band(low, high), *(cell.as_json() for cell in cells), int(inside.sum())])
    return figures, {
        "title": "Results by rating",
        "text": "How often the likelier winner won (decisive games), the log loss of win, draw, loss in nats, and how "
        "far what was predicted lies from what happened (expected calibration error): of wins, of draws, and of the "
        "first choice among the moves.",
        "heading": "rating",
        "columns": ["winner right", "log loss", "gap of wins", "gap of draws", "gap of first choice", "moves"],
        "kinds": ["share", "number", "share", "share", "share", "count"],
        "rows": rows,
    }


def _share_loss(result: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log loss of one who knows nothing but how often movers win, draw and lose."""
    shares = np.bincount(result + 1, minlength=3) / len(result)
    return log_loss(shares[result + 1], 1)


def by(sheet: Sheet) -> dict[str, list[dict[str, Any]]]:
    """Accuracy over parts of the positions; parts without any are left out."""
    right, groups = sheet.right, sheet.groups
    labels = [_band(low, high) for low, high in itertools.pairwise(BANDS)]
    tables = {
        "rating": slices(right, groups, np.where(sheet.rating > 0, sheet.rating, -1), edges=BANDS, labels=labels),
        "ply": slices(right, groups, sheet.plies, edges=PLIES),
        "opening": slices(
            right, groups, (sheet.plies >= OPENING).astype(int), labels=(f"first {OPENING} plies", "after")
        ),
        "phase": slices(right, groups, sheet.marks["phase"], labels=PHASES),
        "side to move": slices(right, groups, sheet.marks["side"], labels=("White", "Black")),
    }
    return as_by(tables | by_speed(right, groups, sheet.store, sheet.games))


# The same positions asked about otherwise


def compared(
    sheet: Sheet, asker: Asker, positions: Positions, numbers: NDArray[np.int64], some: NDArray[np.int64], seed: int,
    tell: Tell,
) -> tuple[dict[str, Figure], Table]:  # fmt: skip
    """Figures of the same network told the ratings of other games' players, no ratings, and nothing but the position.

    some: indices of the positions that are asked about again. Shuffled ratings go from game to game, both players'
    together, so that a game keeps one pair.
    """
    rng = np.random.default_rng(seed)
    rated = np.flatnonzero((asker.ratings > 0).all(0) & np.isin(np.arange(len(sheet.store)), sheet.games))
    other = np.arange(len(sheet.store))
    other[rated] = rng.permutation(rated)
    side_of_game = rng.integers(0, 2, len(sheet.store))  # the strangers' colours do not matter

    def shuffled(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        side = batch.state[:, SIDE].astype(np.int64) ^ side_of_game[batch.games]
        state[:, RATING] = rating_bytes(asker.ratings[side, other[batch.games]])
        state[:, RATING + 1] = rating_bytes(asker.ratings[1 - side, other[batch.games]])
        return state

    def withheld(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        state[:, RATING : RATING + 2] = 0
        return state

    def bare(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        state[:, RATING : RATING + len(BEYOND)] = 0
        return state

    ways = {"ratings_shuffled": shuffled, "ratings_withheld": withheld, "position_alone": bare}
    groups = ByGame(sheet.games[some])
    both = (sheet.rating[some] > 0) & (sheet.opponent[some] > 0)
    mask = both if both.any() else np.ones_like(both)
    decided = mask & (sheet.result[some] != 0)
    own = {name: values[some] for name, values in sheet.marks.items()}
    figures: dict[str, Figure] = {
        "log_loss_where_rated": groups.mean(log_loss(own["chance"], 1), mask),
        "accuracy_where_rated": groups.mean(own["rank"] == 1, mask),
    }
    table: list[list[Any]] = [_told_row("as it was", groups, own, own, mask, decided, sheet.result[some])]
    for name, change in ways.items():

        def measure(batch: Batch, change: Any = change) -> dict[str, NDArray[Any]]:
            return asker.measure(batch, change(batch, asker.told(batch)))

        def progress(done: int, total: int, name: str = name) -> None:
            tell(name.replace("_", " "), done, total)

        found = gather(positions, numbers[some], measure, progress)
        figures[f"log_loss_{name}"] = groups.mean(log_loss(found["chance"], 1), mask)
        figures[f"accuracy_{name}"] = groups.mean(found["rank"] == 1, mask)
        figures[f"log_loss_cost_{name}"] = groups.difference(
            log_loss(found["chance"], 1), log_loss(own["chance"], 1), mask
        )
        if "win" in found and decided.any():
            figures[f"winner_accuracy_{name}"] = groups.mean(_winner(found, sheet.result[some]), decided)
        table.append(_told_row(name.replace("_", " "), groups, found, own, mask, decided, sheet.result[some]))
    return figures, {
        "title": "What it is worth to be told",
        "text": "The same positions, of games with both ratings, asked about with the ratings of other games' players, "
        "without ratings, and from the position alone, as a FEN gives it. Cost: log loss more than when told the "
        "truth.",
        "heading": "told",
        "columns": ["accuracy", "log loss", "cost", "winner right", "moves"],
        "kinds": ["share", "number", "number", "share", "count"],
        "rows": table,
    }


def _told_row(
    name: str, groups: ByGame, found: dict[str, NDArray[Any]], own: dict[str, NDArray[Any]], mask: NDArray[np.bool_],
    decided: NDArray[np.bool_], result: NDArray[np.int64],
) -> list[Any]:  # fmt: skip
    loss = log_loss(found["chance"], 1)
    winner = groups.mean(_winner(found, result), decided).as_json() if "win" in found and decided.any() else None
    return [
        name, groups.mean(found["rank"] == 1, mask).as_json(), groups.mean(loss, mask).as_json(),
        groups.difference(loss, log_loss(own["chance"], 1), mask).as_json(), winner, int(mask.sum()),
    ]  # fmt: skip


def usual_moves(store: Store, games: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each pair of squares was played in some games, as the mover sees it, int64 [4096]: from + 64 · to."""
    counts = np.zeros(4096, np.int64)
    for part in np.array_split(games, max(1, len(games) >> 12)):
        plies = store.plies[part]
        at = np.repeat(store.offsets[part] - np.concatenate(([0], np.cumsum(plies)[:-1])), plies) + np.arange(
            plies.sum()
        )
        first = store.starts[store.start_of[part], 64 + SIDE].astype(np.int64)
        ply = at - np.repeat(store.offsets[part], plies)
        mirrored = (np.repeat(first, plies) ^ ply & 1) * 56
        pairs = (store.moves[at].astype(np.int64) & 0xFFF) ^ (mirrored | mirrored << 6)
        counts += np.bincount(pairs, minlength=4096)
    return counts


def _usual(
    run: Run, sheet: Sheet, positions: Positions, numbers: NDArray[np.int64], some: NDArray[np.int64],
    say: Callable[[str], None], tell: Tell,
) -> dict[str, Any]:  # fmt: skip
    """The baseline that always plays the legal move whose squares were most often played in the run's own games."""
    path = Path(str(run.info["data"]["store"]))
    if not path.exists():
        say(f"{path} is not there, so the most frequent move is left out")
        return {}
    own = Store(path)
    games = np.flatnonzero(own.sides(run.split) == TRAIN)
    games = np.sort(np.random.default_rng(0).permutation(games)[:COUNTED])
    counts = usual_moves(own, games).astype(np.float32)

    def measure(batch: Batch) -> dict[str, NDArray[Any]]:
        played = sheet.store.moves[sheet.store.offsets[batch.games] + batch.plies]
        moves, offsets = legal_moves(batch.codes, batch.state)
        sizes = np.diff(offsets)
        rows = np.repeat(np.arange(len(played)), sizes)
        mirrored = batch.state[rows, SIDE].astype(np.int64) * 56
        score = counts[(moves.astype(np.int64) & 0xFFF) ^ (mirrored | mirrored << 6)]
        best = np.maximum.reduceat(score, offsets[:-1])
        first = np.minimum.reduceat(np.where(score == best[rows], np.arange(len(moves)), len(moves)), offsets[:-1])
        return {"right": moves[first] & 0xFFF == played & 0xFFF}

    found = gather(positions, numbers[some], measure, lambda done, total: tell("most frequent move", done, total))
    figure = ByGame(sheet.games[some]).mean(found["right"])
    return {"most_frequent_move": baseline(f"the most frequent legal move, {len(some):,} positions", figure)}


def beside_chessnet(
    sheet: Sheet, positions: Positions, numbers: NDArray[np.int64], some: NDArray[np.int64], say: Callable[[str], None],
    tell: Tell,
) -> tuple[dict[str, Any], list[Table]]:  # fmt: skip
    """The packaged `chessnet` on some of the positions: its accuracy as a baseline, and a table by rating."""
    if BESIDE not in packaged():
        say(f"the packaged network {BESIDE} is not there, so it is left out")
        return {}, []
    other = Run(BESIDE)
    some = some[other.unseen(sheet.store.column("hash"))[sheet.games[some]]]
    if not len(some):
        say(f"{BESIDE} has seen all these games, so it is left out")
        return {}, []
    session = Session(other)

    def measure(batch: Batch) -> dict[str, NDArray[Any]]:
        played = sheet.store.moves[sheet.store.offsets[batch.games] + batch.plies]
        return ranked(session.evaluate(batch.codes, batch.state), batch, played)

    found = gather(positions, numbers[some], measure, lambda done, total: tell(BESIDE, done, total))
    its, ours = found["rank"] == 1, sheet.right[some]
    groups, rating = ByGame(sheet.games[some]), sheet.rating[some]
    rows = []
    for low, high in itertools.pairwise(BANDS):
        inside = (rating >= max(low, 1)) & (rating < high)
        if inside.any():
            cells = [groups.mean(ours, inside), groups.mean(its, inside), groups.difference(ours, its, inside)]
            rows.append([_band(low, high), *(cell.as_json() for cell in cells), int(inside.sum())])
    baselines = {
        BESIDE: baseline(f"{BESIDE}, {len(some):,} positions", groups.mean(its)),
        f"network_beside_{BESIDE}": baseline(f"the network, the same {len(some):,} positions", groups.mean(ours)),
    }
    return baselines, [{
        "title": f"Beside {BESIDE}, by rating",
        "text": f"Accuracy of the network and of the packaged {BESIDE}, which knows no ratings, on the same positions.",
        "heading": "rating",
        "columns": ["human", BESIDE, "difference", "moves"],
        "kinds": ["share", "share", "points", "count"],
        "rows": rows,
    }]  # fmt: skip


def _asked(
    sheet: Sheet, asker: Asker, positions: Positions, numbers: NDArray[np.int64], seed: int, tell: Tell
) -> list[Table]:
    """Log loss and accuracy by the players' rating and by the rating that the network is told for both of them."""
    bands = [(rating - 200, rating + 200) for rating in ASKED]
    rng = np.random.default_rng(seed)
    picked = []
    for low, high in bands:
        inside = np.flatnonzero((sheet.rating >= low) & (sheet.rating < high))
        picked.append(np.sort(rng.permutation(inside)[:ASKED_POSITIONS]))
    some = np.concatenate(picked)
    if not len(some):
        return []
    of = np.repeat(np.arange(len(bands)), [len(part) for part in picked])
    order = np.argsort(some, kind="stable")
    some, of = some[order], of[order]
    losses, rights = [], []
    for asked in ASKED:

        def measure(batch: Batch, asked: int = asked) -> dict[str, NDArray[Any]]:
            state = asker.told(batch)
            state[:, RATING : RATING + 2] = asked // RATING_UNIT
            return asker.measure(batch, state)

        def progress(done: int, total: int, asked: int = asked) -> None:
            tell(f"asked as {asked}", done, total)

        found = gather(positions, numbers[some], measure, progress)
        losses.append(log_loss(found["chance"], 1))
        rights.append(found["rank"] == 1)
    groups = ByGame(sheet.games[some])
    tables: list[Table] = []
    for title, values, kind in (
        ("Log loss by asked rating", losses, "number"),
        ("Accuracy by asked rating", rights, "share"),
    ):
        rows = []
        for i, (low, high) in enumerate(bands):
            if (of == i).any():
                cells = [figure.as_json() for figure in groups.means(values, of == i)]
                rows.append([f"{low} to {high - 1}", *cells, int((of == i).sum())])
        tables.append({
            "title": title,
            "text": "Rows: the rating of the players. Columns: the rating that the network was told for both. The best "
            "of a row should stand where the two are the same.",
            "heading": "players",
            "columns": [*(f"asked {asked}" for asked in ASKED), "moves"],
            "kinds": [*(kind for _ in ASKED), "count"],
            "rows": rows,
        })  # fmt: skip
    return tables


# Gallery and mistakes


def shown(sheet: Sheet, asker: Asker, positions: Positions, numbers: NDArray[np.int64], seed: int) -> dict[str, Any]:
    """Positions in which two ratings are expected to play differently, and where the network was surest and wrong."""
    picker = Picker(sheet.store, sheet.games, sheet.plies)
    wrong = np.flatnonzero(~sheet.right)
    mistakes = picker.take(wrong[np.argsort(-sheet.marks["surest"][wrong], kind="stable")], SHOWN)
    some = np.sort(np.random.default_rng(seed + 1).permutation(len(numbers))[:4096])
    batch = positions.batch(numbers[some])
    found = []
    for rating in (FIT, 2200):
        state = asker.told(batch)
        state[:, RATING : RATING + 2] = rating // RATING_UNIT
        answers = asker.session.evaluate(batch.codes, state)
        moves, offsets = legal_moves(batch.codes, batch.state)
        shares = normalised(move_probabilities(answers, batch.codes, moves, offsets), offsets)
        found.append((moves, offsets, shares))
    moves, offsets, weak = found[0]
    strong = found[1][2]
    firsts = []
    for i in range(len(some)):
        part = slice(offsets[i], offsets[i + 1])
        one, other = int(weak[part].argmax()), int(strong[part].argmax())
        apart = float(strong[part][other] - weak[part][other])
        if one != other:
            firsts.append((-apart, i, one, other))
    firsts.sort()
    chosen = {int(some[i]): (i, one, other) for _, i, one, other in firsts[: 20 * SHOWN]}
    kept = picker.take(list(chosen), SHOWN)
    known = records(sheet.store, (int(sheet.games[i]) for i in [*mistakes, *kept]))

    def card(index: int, probability: float, meaning: str) -> dict[str, Any]:
        place = (int(sheet.games[index]), int(sheet.plies[index]))
        return position(known[place[0]], place, round(probability, 4), meaning)

    def name(index: int, move: int) -> str:
        record = known[int(sheet.games[index])]
        return _san(record.fens[int(sheet.plies[index])], move)

    gallery = []
    for index in kept:
        i, one, other = chosen[index]
        first = int(offsets[i])
        weaker, stronger = int(moves[first + one]), int(moves[first + other])
        meaning = (
            f"{FIT}: {name(index, weaker)} {weak[first + one]:.0%}; 2200: {name(index, stronger)} "
            f"{strong[first + other]:.0%}; that move at {FIT}"
        )
        gallery.append(card(index, float(weak[first + other]), meaning))
    return {
        "gallery": [{"title": f"{FIT} and 2200 play differently", "positions": gallery}] if gallery else [],
        "mistakes": [
            card(
                index, float(sheet.marks["surest"][index]), f"{name(index, int(sheet.marks['best'][index]))} is played"
            )
            for index in mistakes
        ],
    }


def _san(fen: str, move: int) -> str:
    import chess

    return chess.Board(fen).san(to_move(move))
