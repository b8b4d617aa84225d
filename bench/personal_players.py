"""How much of people's own play `kibitz personal` learns, by the protocol of docs/results/personal.md.

    python bench/personal_players.py PLAYERS.pgn.zst --work DIR [--owners 12] [--games 500] [--base human]
    python bench/personal_players.py GAMES.sgfl.zst --work DIR --owners 6 --games 200 --test 25

PLAYERS: games of many people, each with the tag Owner, old games of a person first. GAMES: of Go, one in a line; the
players in most of them count. A person's newest 50 games are the test, the 500 before them (or fewer) are for training.
The people with the most games come first; they are called player 1, 2, … in that order, and nobody's name is printed. A
call that was stopped resumes; what is done stays done. Minutes of a player are those of the last call. The tables are
printed again and again with what there is: --tables prints them and trains nothing.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import zstandard

from kibitz.evaluation.policy.personal.arms import ADAPTED, BASE, BOOK_ARM, BOTH, STRANGER, Arms, compare
from kibitz.personal.book import BOOK, Book, blend
from kibitz.personal.fitting import PersonalRequest, make
from kibitz.personal.games import sides_of
from kibitz.personal.kinds import kind_of
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import Estimate
from kibitz.store.split import TEST
from kibitz.store.store import Store

TEST_GAMES, TOLD_GAMES = 50, 20
STRANGER_WHOLE = "stranger and book"
"""One more arm: another player's adapters with that player's book, all that `kibitz uci` would play by."""
SECOND_ACCOUNTS = (17, 20)
"""People of whom an earlier number in the list is another account."""


def games_by_owner(path: Path) -> Iterator[tuple[str, str]]:
    """Owner and text of each game of a packed file."""
    with path.open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8", errors="replace")
        yield from _games(text)


def _games(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    game: list[str] = []
    owner = ""
    for line in lines:
        if line.startswith("[Event ") and game:
            yield owner, "".join(game)
            game = []
        if line.startswith("[Owner "):
            owner = line.split('"')[1]
        game.append(line)
    if game:
        yield owner, "".join(game)


def games_by_player(path: Path) -> Iterator[tuple[str, str]]:
    """Each player and the text of each game of a packed file of Go, in the order of the dates; a game is there for both
    of its players."""
    with path.open("rb") as packed:
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(packed)
        games = io.TextIOWrapper(reader, encoding="utf-8", errors="replace").read().splitlines()
    for game in sorted(games, key=lambda text: _property("DT", text)):
        for name in {_property("PB", game), _property("PW", game)} - {""}:
            yield name, game + "\n"


def _property(name: str, game: str) -> str:
    found = re.search(rf"{name}\[([^\]]*)\]", game)
    return found[1] if found else ""


def write_players(source: Path, work: Path, games: int, most: int) -> list[Path]:
    """The newest games of each of the `most` owners with the most games, by number."""
    folder, go = work / "players", ".sgf" in source.name
    if not folder.is_dir():
        by_owner: dict[str, list[str]] = {}
        for owner, game in (games_by_player if go else games_by_owner)(source):
            by_owner.setdefault(owner, []).append(game)
        ordered = sorted(by_owner.values(), key=lambda some: -len(some))[:most]
        folder.mkdir(parents=True)
        for number, some in enumerate(ordered, 1):
            name = f"{number:02d}.{'sgf' if go else 'pgn'}"
            (folder / name).write_text("".join(some[-games:]), encoding="utf-8")
    return sorted(folder.glob("*.[ps]g[nf]"))


class Measured:
    """A player's run, test games and arms."""

    def __init__(self, number: int, run: Path, stranger: Path):
        self.number, self.run, self.store = number, Run(run), Store(run / "games")
        self.test = np.flatnonzero(self.store.sides(self.run.split) == TEST)
        self.arms: Arms = compare(self.run, self.store, self.test, other := Run(stranger))
        asked = self.arms.positions
        of_other = asked.counts(Book.open(other.path / BOOK))
        whole = blend(self.arms.shares[STRANGER], of_other, asked.offsets, other.info["book"]["k"])
        self.judged = {**self.arms.judged, STRANGER_WHOLE: asked.judge(whole)}

    def difference(self, one: str, other: str, late: bool = False) -> Estimate:
        arms = self.arms
        mask = arms.late if late else np.ones(len(arms.late), np.bool_)
        return arms.groups.difference(self.judged[one].right, self.judged[other].right, mask)


def over_players(players: list[Measured], one: str, other: str, late: bool = False) -> Estimate:
    """The mean over players of the difference of two arms; the interval draws games within players."""
    rng = np.random.default_rng(0)
    means, draws = [], []
    for player in players:
        arms = player.arms
        gap = player.judged[one].right.astype(float) - player.judged[other].right
        weight = arms.late.astype(float) if late else np.ones(len(gap))
        _, of = np.unique(arms.positions.games, return_inverse=True)
        sums, counts = np.bincount(of, gap * weight), np.bincount(of, weight)
        drawn = rng.integers(len(sums), size=(1000, len(sums)))
        means.append(sums.sum() / counts.sum())
        draws.append(sums[drawn].sum(1) / counts[drawn].sum(1))
    low, high = np.percentile(np.mean(draws, 0), (2.5, 97.5))
    return Estimate(float(np.mean(means)), float(low), float(high), 0, sum(len(p.test) for p in players))


def points(estimate: Estimate) -> str:
    return f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f} … {100 * estimate.high:+.1f})"


ARMS = (BASE, BOOK_ARM, ADAPTED, BOTH, STRANGER)


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def tables(players: list[Measured]) -> None:
    heads = ("player", "rating", "moves", *ARMS, "gain", "past move 10", "kept", "minutes")
    print("\n" + row(*heads) + "\n" + "|---" * len(heads) + "|")
    for player in players:
        judged, info = player.arms.judged, player.run.info
        level = info["person"].get("rating") or info["person"].get("rank") or "?"
        minutes = json.loads((player.run.path / "bench.json").read_text())["cpu_seconds"] / 60
        print(row(
            player.number, level, f"{len(player.arms.positions):,}",
            *(f"{judged[arm].right.mean():.1%}" for arm in ARMS), points(player.difference(BOTH, BASE)),
            points(player.difference(BOTH, BASE, True)), info["kept"], f"{minutes:.1f}",
        ))  # fmt: skip
    print("\n" + row(f"{len(players)} players, mean", "all plies", "past move 10") + "\n|---|---|---|")
    for name, one, other in (
        ("both − base", BOTH, BASE), ("book − base", BOOK_ARM, BASE), ("adapters − base", ADAPTED, BASE),
        ("adapters − a stranger's", ADAPTED, STRANGER), ("both − both of a stranger", BOTH, STRANGER_WHOLE),
    ):  # fmt: skip
        print(row(name, *(points(over_players(players, one, other, late)) for late in (False, True))))
    print("\n" + row("mean over players", *ARMS) + "\n" + "|---" * (1 + len(ARMS)) + "|")
    print(row("log loss", *(f"{np.mean([p.arms.judged[arm].loss.mean() for p in players]):.4f}" for arm in ARMS)))
    for name, seen in (("seen positions, right", True), ("unseen positions, right", False)):
        shares = (np.mean([p.arms.judged[arm].right[p.arms.seen == seen].mean() for p in players]) for arm in ARMS)
        print(row(name, *(f"{share:.1%}" for share in shares)))


def telling_apart(players: list[Measured]) -> None:
    """Which network predicts the newest TOLD_GAMES test games of each player best: by log loss a move."""
    others = SECOND_ACCOUNTS if players[0].store.game == "chess" else ()
    chosen = [player for player in players if player.number not in others]
    losses = np.empty((2, len(chosen), len(chosen)))  # alone, with the book; of whose moves; whose network
    sessions = [Session(player.run, corrected=False) for player in chosen]
    books = [Book.open(player.run.path / BOOK) for player in chosen]
    for i, player in enumerate(chosen):
        sides = sides_of(player.store, player.run.info["person"]["names"])
        asked = kind_of(player.store.game).Positions(player.store, player.test[-TOLD_GAMES:], sides)
        for j, other in enumerate(chosen):
            shares = asked.shares(sessions[j])
            mixed = blend(shares, asked.counts(books[j]), asked.offsets, other.run.info["book"]["k"])
            losses[:, i, j] = asked.judge(shares).loss.mean(), asked.judge(mixed).loss.mean()
    for way, name in enumerate(("networks alone", "networks with their books")):
        right = losses[way].argmin(1) == np.arange(len(chosen))
        wrong = [player.number for player, one in zip(chosen, right, strict=True) if not one]
        print(f"\n{len(chosen)} players told apart by {TOLD_GAMES} games, {name}: {right.sum()} right, wrong {wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--owners", type=int, default=12)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--test", type=int, default=TEST_GAMES, help="newest games that are the test")
    parser.add_argument("--base", default="", help="default: human, of Go gohuman")
    parser.add_argument("--tables", action="store_true", help="print what there is, train nothing")
    parser.add_argument("--backwards", action="store_true", help="from the last player on, beside another call")
    options = parser.parse_args()
    files = write_players(options.players, options.work, options.games + options.test, options.owners)
    done: list[tuple[int, Path]] = []
    numbered = list(enumerate(files[: options.owners], 1))
    for number, file in reversed(numbered) if options.backwards else numbered:
        path = options.work / f"run-{number:02d}"
        if not (path / "bench.json").is_file():
            if options.tables or (options.backwards and path.exists()):
                continue
            wall, cpu = time.monotonic(), time.process_time()
            made = make(PersonalRequest([str(file)], base=options.base, run=path, test=options.test))
            if made.reason not in ("done", "finished before"):
                return
            spent = {"seconds": time.monotonic() - wall, "cpu_seconds": time.process_time() - cpu}
            (path / "bench.json").write_text(json.dumps(spent))
            print(f"player {number}: {made.info['kept']}, {spent}", flush=True)
        done.append((number, path))
    done.sort()
    if len(done) > 1 and not options.backwards:
        strangers = [path for _, path in done[1:] + done[:1]]
        players = [Measured(number, path, other) for (number, path), other in zip(done, strangers, strict=True)]
        tables(players)
        telling_apart(players)


if __name__ == "__main__":
    main()
