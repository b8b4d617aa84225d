"""Divide the games of single players into those for training and those of held-out players.

    python tools/held_out_players.py players.pgn.zst older.pgn.zst --into FOLDER

Every game has the tag Owner, which names the player. Every third player, by number of games, is held out. FOLDER gets
training-players.pgn, held-out-players.pgn and held-out-players.txt, a name on each line. No game of a held-out player
may be in a training store: `tools/train_networks.py` checks it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard

EVERY, FIRST = 3, 1
"""Players are numbered from 0 by number of games; number FIRST and then every EVERY-th are held out."""
TRAINING_PGN, HELD_OUT_PGN, HELD_OUT_NAMES = "training-players.pgn", "held-out-players.pgn", "held-out-players.txt"


def games_of(path: Path) -> Iterator[str]:
    """The text of each game of a PGN file, which may be compressed (.zst)."""
    with contextlib.ExitStack() as stack:
        binary: Any = stack.enter_context(path.open("rb"))
        if path.suffix == ".zst":
            reader = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(binary)
            binary = stack.enter_context(reader)
        lines: list[str] = []
        for line in stack.enter_context(io.TextIOWrapper(binary, encoding="utf-8", errors="replace")):
            if line.startswith("[Event ") and lines:
                yield "".join(lines)
                lines = []
            lines.append(line)
        if lines:
            yield "".join(lines)


def owner_of(game: str) -> str:
    """The value of a game's tag Owner; "" if it has none."""
    return game.split('[Owner "', 1)[1].split('"', 1)[0] if '[Owner "' in game else ""


def held_out_of(counts: Counter[str]) -> list[str]:
    """The players that are held out, sorted; counts: games by player."""
    owners = sorted((owner for owner in counts if owner), key=lambda owner: (-counts[owner], owner))
    return sorted(owner for i, owner in enumerate(owners) if i % EVERY == FIRST)


def plays_in(game: str, handles: set[str]) -> bool:
    """Whether one of the players of a game has one of these names, in lower case."""
    names = (game.split(f'[{tag} "', 1)[-1].split('"', 1)[0] for tag in ("White", "Black") if f'[{tag} "' in game)
    return any(name.lower() in handles for name in names)


def divide(files: Sequence[Path], into: Path) -> list[str]:
    """Write the three files into a folder, each whole or not at all; the names of the held-out players."""
    held_out = held_out_of(Counter(owner_of(game) for path in files for game in games_of(path)))
    into.mkdir(parents=True, exist_ok=True)
    parts = {name: into / f"{name}.part" for name in (TRAINING_PGN, HELD_OUT_PGN, HELD_OUT_NAMES)}
    handles = {name.partition("@")[0].lower() for name in held_out}
    parts[HELD_OUT_NAMES].write_text("".join(f"{name}\n" for name in held_out), encoding="utf-8")
    with (
        parts[TRAINING_PGN].open("w", encoding="utf-8") as training,
        parts[HELD_OUT_PGN].open("w", encoding="utf-8") as test,
    ):
        for path in files:
            for game in games_of(path):
                if owner_of(game) in held_out:
                    test.write(game.rstrip() + "\n\n")
                elif not plays_in(game, handles):  # a game of a held-out player against another player of the files
                    training.write(game.rstrip() + "\n\n")
    for name, part in parts.items():
        part.rename(into / name)
    return held_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="PGN files whose games have the tag Owner")
    parser.add_argument("--into", type=Path, required=True, help="the folder for the three files")
    options = parser.parse_args()
    names = divide(options.files, options.into)
    print(f"{options.into}: {len(names)} players are held out")


if __name__ == "__main__":
    main()
