"""The command `kibitz annotate`: write all games of files with evaluations, annotations and reasons, as PGN or SGF
files.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz import messages, preparation, records
from kibitz.commands.analyze.options import AnalyzeOptions
from kibitz.commands.analyze.output import COARSE, Shown, same_file
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress, ticking
from kibitz.commands.setup import DEFAULT_NETWORKS
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.external import EngineDied
from kibitz.external.programs import read_command
from kibitz.keys import labelled_reasons
from kibitz.remote import is_remote
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.analysis.checkers import CheckedBy
    from kibitz.commands.analyze.chess import PgnGames
    from kibitz.commands.analyze.go import SgfGames
    from kibitz.play.session import Session

SUFFIX = "-annotated"
"""The text that kibitz adds to the name of a file, before the extension, to make the name of its output."""
ENDINGS = {"chess": ".pgn", "go": ".sgf"}
"""The file extensions of outputs, by game."""
SHOWN_FILES = 5
"""The largest number of skipped files in the JSON output, for each reason."""


def annotate(
    files: Annotated[list[str], typer.Argument(show_default=False, metavar="FILES")],
    *,
    out: Annotated[str | None, typer.Option(show_default=False, metavar="FILE|FOLDER")] = None,
    network: Annotated[str | None, typer.Option(show_default=False, metavar="NETWORK")] = None,
    checked_by: Annotated[str | None, typer.Option(show_default=False, metavar="ENGINE")] = None,
    engine_option: Annotated[list[str] | None, typer.Option(show_default=False, metavar="NAME=VALUE")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, max=1_000_000_000, show_default=False, metavar="N")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Write every game of PGN or SGF files with evaluations, annotations and reasons.

    An output file has the same content as the output of kibitz analyze. For chess, the options of kibitz analyze are
    --all and --pgn. For Go, they are --all and --sgf.
    """
    _check(files, out)
    options = AnalyzeOptions(every=True, checked_by=checked_by, engine_option=engine_option, nodes=nodes)
    options.check()
    if nodes and checked_by is None:
        raise UsageError(f"--nodes needs an engine (got {nodes:,}). Add --checked-by ENGINE.")
    if checked_by is not None:
        read_command(checked_by, "--checked-by")
    work = Annotation(network, overwrite, options, alone=len(files) == 1)
    with contextlib.ExitStack() as stack:
        try:
            jobs = work.jobs(files, out)
            shown = stack.enter_context(_progress(len(jobs), lambda: work.games))
            for job in jobs:
                work.annotate(job, shown)
        except KeyboardInterrupt:
            stack.close()
            if not work.done:
                raise
            _report(work, as_json)
            raise KeyboardInterrupt(
                f"interrupted: completed {len(work.done):,} of {number_of(len(jobs), 'file')}. To annotate the"
                " rest, run the same command again."
            ) from None
    _report(work, as_json)
    if work.skipped:
        reasons = "; ".join(f"{reason} ({len(names):,})" for reason, names in work.skipped.items())
        total = len(work.done) + sum(map(len, work.skipped.values()))
        raise KibitzError(f"annotated {len(work.done):,} of {number_of(total, 'file')}. Skipped: {reasons}")


def _check(files: list[str], out: str | None) -> None:
    """Raise UsageError if sources need a folder for the output and none is given, and for standard output."""
    if records.STDIN in (out, *files):
        raise UsageError(
            "annotate reads and writes files only (got -). For pipes, use: kibitz analyze human - --all --pgn -"
        )
    for file in files:
        if is_remote(file) and out is None:
            raise UsageError(f"a file from the internet needs a folder for the output (got {file}). Add --out FOLDER.")


@dataclass(frozen=True)
class AnnotationJob:
    """A file to annotate. file: its path. game: "chess" or "go". target: the path of the annotated file."""

    file: str
    game: str
    target: Path


@dataclass
class Annotation:
    """Annotates files one by one, and counts the annotated and the skipped files.

    network: the network for all files; None for the default network of each game.
    overwrite: whether to replace an existing output file.
    options: the options of the analysis.
    alone: whether the only argument is a file, or a folder with one file. In this case, an error of this file ends the
        command. Otherwise, kibitz skips files with errors.
    done: a dict for each annotated file, for the JSON output.
    """

    network: str | None
    overwrite: bool
    options: AnalyzeOptions
    alone: bool
    done: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    """The paths of the skipped files, by the reason."""
    games: int = 0
    """The number of games that were annotated so far."""
    _sessions: dict[str, Session] = field(default_factory=dict)

    def jobs(self, files: list[str], out: str | None) -> list[AnnotationJob]:
        """Return the files to annotate, with the paths of their outputs.

        An earlier call may have written annotated copies of files to the same folders. If a file is in the result, its
        annotated copy is not.

        files: the files and folders on the command line. out: the file or folder for the output; None for the folder of
        each file. Raises UsageError if `out` is a file but there are several files. Raises KibitzError if `files` is a
        single path without files of games. Reports other paths without files of games, and skips them.
        """
        named = self._session(self.network).game if self.network else "chess"
        found: list[tuple[str, str, Path]] = []
        for path in files:
            try:
                inside = records.find([path], tuple(records.ENDINGS))
            except KibitzError as error:
                self._skip(path, "no such file", error)
                continue
            for file in inside:
                game = _game_of(file, named)
                found.append((file, game, _inside(file, path) / f"{_stem(file)}{SUFFIX}{ENDINGS[game]}"))
        single = len(files) == 1 and [file for file, *_ in found] == files
        self.alone = self.alone and len(found) <= 1
        if out is not None and not single and (Path(out).is_file() or Path(out).suffix.lower() in records.ENDINGS):
            raise UsageError(f"--out must be a folder, because you annotate several files (got {out}). Give a folder.")
        beside = {Path(records.on_disk(file)).with_name(target.name) for file, _, target in found}
        jobs = [
            AnnotationJob(file, game, _target(file, inner, out, single))
            for file, game, inner in found
            if Path(file) not in beside
        ]
        return list({job.file: job for job in jobs}.values())

    def annotate(self, job: AnnotationJob, shown: Shown) -> None:
        """Annotate one file. The output appears only when it is complete.

        If the file can't be annotated, it is reported and counted as skipped. If it is the only file, the error is
        raised. shown: a function that takes the file's path and returns a context manager that shows the progress.
        """
        reason = "output exists"
        try:
            self._check_target(job)
            reason = "network for another game"
            session = self._session(self.network or DEFAULT_NETWORKS[job.game])
            _check_network(session, job.file)
            reason = "engine for another game"
            self.options.checker(session)
            reason = "unreadable file"
            if Path(records.on_disk(job.file)).is_file():
                records.Stream(job.file).close()
            reason = "no usable game"
            job.target.parent.mkdir(parents=True, exist_ok=True)
            games, skipped, checked_by = self._write(session, job, shown)
        except EngineDied as error:
            self._skip(job.file, "engine failed", error)
        except KibitzError as error:
            self._skip(job.file, reason, error)
        except OSError as error:
            self._skip(job.file, "output cannot be written", error, job.target)
        else:
            self.done.append({
                "file": records.printable(job.file), "written": records.printable(str(job.target)), "game": job.game,
                "network": session.name, "checked_by": checked_by, "games": games, "skipped_games": skipped,
            })  # fmt: skip

    def _write(self, session: Session, job: AnnotationJob, shown: Shown) -> tuple[int, int, str | None]:
        """Write the games of a file. Returns the number of games, the number of games that can't be analyzed, and the
        engine that evaluated the moves.
        """
        from kibitz.analysis.files import whole_file

        before = self.games
        with (
            (_chess if job.game == "chess" else _go)(session, job.file, self.options, shown) as opened,
            whole_file(str(job.target)) as file,
        ):
            source, analysed, text_of, checked_by = opened
            for game in analysed:
                file.write(text_of(game))
                self.games += 1
            if source.failure:
                raise source.failure
        return self.games - before, len(source.refused), checked_by.words() if checked_by else None

    def _check_target(self, job: AnnotationJob) -> None:
        """Raise UsageError if the output exists."""
        target = records.printable(str(job.target))
        if same_file(str(job.target), records.on_disk(job.file)):
            raise UsageError(f"the output must not be the file that kibitz reads (got {target}). Choose another file.")
        if any(one["written"] == target for one in self.done):
            raise UsageError(
                f"{records.printable(job.file)} and another file would have the same output file (got {target})."
                " Rename one of them."
            )
        if job.target.exists() and not self.overwrite:
            raise UsageError(f"{target} exists already. Choose another --out, or add --overwrite.")

    def _session(self, name: str) -> Session:
        """Return the open network with this name. Raises KibitzError and UsageError."""
        from kibitz.analysis import check_outputs
        from kibitz.games import GAME_NAMES
        from kibitz.play.session import Session

        if name not in self._sessions:
            session = Session(name)
            if session.game in GAME_NAMES:
                check_outputs(session, session.system, session.name)
            self._sessions[name] = session
        return self._sessions[name]

    def _skip(self, file: str, reason: str, error: KibitzError | OSError, target: Path | None = None) -> None:
        """Report a file that can't be annotated. If there is no other file, the error is raised."""
        if self.alone:
            raise error
        if isinstance(error, OSError):
            messages.error(f"{records.printable(str(target))}: {one_line(error)}. Check the folder and the free space.")
        else:
            messages.error(str(error))
        self.skipped.setdefault(reason, []).append(records.printable(file))


def _plain(file: str) -> str:
    """Return the name of a record file, without the extension of a compression format."""
    name = Path(file.removeprefix(f"{records.on_disk(file)}:")).name
    return Path(name).stem if name.lower().endswith(records.PACKED) else name


def _stem(file: str) -> str:
    return Path(_plain(file)).stem


def _game_of(file: str, otherwise: str) -> str:
    """Return the game of a file by its file extension. The result is `otherwise` if the extension does not decide and
    kibitz can write this game.
    """
    game = records.ENDINGS.get(Path(_plain(file).lower()).suffix, otherwise)
    return game if game in ENDINGS else "chess"


def _inside(file: str, path: str) -> Path:
    """Return the folder of a file, relative to the given folder; the current folder if the file itself was given."""
    if not Path(path).is_dir():
        return Path()
    return Path(records.on_disk(file)).relative_to(path).parent


def _target(file: str, inner: Path, out: str | None, single: bool) -> Path:
    """Return the path of a file's output. inner: the file's path in the folder of all outputs."""
    if out is None:
        return Path(records.on_disk(file)).with_name(inner.name)
    if single and not Path(out).is_dir() and not out.endswith((os.sep, "/")):
        return Path(out)
    return Path(out) / inner


def _check_network(session: Session, file: str) -> None:
    from kibitz.commands.analyze.command import check_game

    check_game(session.run, file, AnalyzeOptions())


Analysed = tuple["PgnGames | SgfGames", Generator[Any], Callable[[Any], str], "CheckedBy | None"]
"""The analysis of a file, as four parts: the games, the iterator of the analyzed games, the function that formats an
analyzed game as text, and the engine that evaluates the moves (None without an engine).
"""


@contextlib.contextmanager
def _chess(session: Session, file: str, options: AnalyzeOptions, shown: Shown) -> Iterator[Analysed]:
    from kibitz.analysis import load
    from kibitz.analysis.chess.moves import meaning_of
    from kibitz.analysis.chess.pgn import annotated
    from kibitz.commands.analyze.chess import PgnGames, opened_judge

    games, analysis = PgnGames(session, file, options), load(session.system)
    with opened_judge(session, analysis, options) as judge:
        preparation.expect("chess search" if judge and judge.searches else "chess")
        meaning = meaning_of(session.system, judge is not None)
        with contextlib.closing(games.analysed(analysis, meaning, judge, shown=shown)) as analysed:
            yield games, analysed, annotated, judge.checked_by if judge else None


@contextlib.contextmanager
def _go(session: Session, file: str, options: AnalyzeOptions, shown: Shown) -> Iterator[Analysed]:
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.sgf import annotated
    from kibitz.commands.analyze.go import SgfGames

    checker = options.checker(session)
    preparation.expect("go search" if "policy" in session.outputs and checker is None else "go")
    with GoEngineJudge(checker) if checker else contextlib.nullcontext() as engine:
        games = SgfGames(session, file, options, engine=engine)
        with contextlib.closing(games.analysed(shown)) as analysed:
            yield games, analysed, annotated, engine.checked_by if engine else None


@contextlib.contextmanager
def _progress(files: int, games: Callable[[], int]) -> Generator[Shown]:
    """Show the progress of all files together. Yield a function that takes a file's path and returns a context manager
    that shows the progress.

    files: the number of files. games: a function that returns the number of annotated games.
    """
    number, share = 0, 0.0

    def tick() -> None:
        done = games()
        line = f"kibitz: {number_of(done, 'game')} annotated, file {number:,} of {files:,}"
        bar.update(max(number - 1, 0) + share, line, games=number_of(done, "game"))

    @contextlib.contextmanager
    def shown(path: str) -> Generator[Callable[[int, int], None]]:
        nonlocal number, share
        number, share = number + 1, 0.0
        size = records.size([path]) or 0

        def show(read: int, consumed: int) -> None:
            nonlocal share
            share = min(consumed / size, 1.0) if size >= COARSE else 0.0

        yield show

    with Progress("{task.fields[games]}", BAR, ELAPSED, LEFT, patient=True) as bar:
        bar.begin("", files if files > 1 else None, games=number_of(0, "game"))
        with ticking(tick):
            yield shown


def _report(work: Annotation, as_json: bool) -> None:
    """Print the files that were written."""
    if as_json:
        skipped = {
            reason: {"files": len(names), "first": names[:SHOWN_FILES]} for reason, names in work.skipped.items()
        }
        games = sum(one["games"] for one in work.done)
        found = {"files": work.done, "games": games, "skipped": labelled_reasons(skipped)}
        print(json.dumps(found, ensure_ascii=False))
        return
    for one in work.done:
        games = number_of(one["games"], "game")
        more = f", {one['skipped_games']:,} skipped" if one["skipped_games"] else ""
        checked = f", checked by {one['checked_by']}" if one["checked_by"] else ""
        print(f"{one['written']}: {games} annotated with {one['network']}{checked}{more}")
