"""Analyze games, move by move."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz import records
from kibitz.analysis.glyphs import CHESS_SWING
from kibitz.api.checks import check_number, check_whole, name_arguments, plain
from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    import chess.pgn

    from kibitz.analysis.checkers import Checker
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.moves import AnalysedGame as AnalysedChessGame
    from kibitz.analysis.chess.strength.player import PlayerStrength
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.analysis.go.games import AnalysedGame as AnalysedGoGame
    from kibitz.api.networks import TrainedNetwork
    from kibitz.games.chess.io.reader import Record
    from kibitz.games.go.io.sgf import Record as GoRecord
    from kibitz.games.go.io.sgf import Unreadable

    AnalysedGame = AnalysedChessGame | AnalysedGoGame

_LONGEST_NAME = 255
"""The largest number of characters of a file name."""


@name_arguments(number="game")
def analyse(
    game: str | Path | chess.pgn.Game,
    network: TrainedNetwork | str | Path,
    *,
    number: int = 1,
    swing: float | None = None,
    ratings: tuple[int, int] | None = None,
    raw: bool = False,
    depth: int | None = None,
    nodes: int | None = None,
    checked_by: str | None = None,
    engine_options: Mapping[str, str | int] | None = None,
    practical: bool = False,
) -> AnalysedGame:
    """Analyze every move of one game with a network.

    game: a PGN or SGF file (also compressed), the text of a game, or a chess.pgn.Game.
    network: a loaded network, or the name or folder of a network (see `load_network`).
    number: the number of the game in its file, from 1. A text is read up to the end of its first game.
    swing: the smallest change that is annotated. Chess: a change of White's win probability, 0 to 1; the default is
        0.1. Go: a number of points; the default is 3 on 9 × 9, 5 on 13 × 13 and 10 on 19 × 19.
    ratings: White's and Black's rating, for networks with rating inputs; None for the ratings in the headers.
    raw: whether to use the network's evaluations before and after each move, without a search.
    depth: only for chess: the search depth in plies (default 6).
    nodes: the size of the tree search (PUCT) per position; 0 for no tree search. Chess: the number of evaluations, for
        networks that predict moves; the default is 160. With 0, there is only the alpha-beta search to `depth`. Go: the
        number of visits, for networks that predict moves and score. By default, 16 visits find the best moves, and the
        leads come from the network without a search.
    checked_by: an engine that evaluates the moves instead of the network, such as "stockfish" or "katago gtp". In this
        case, `depth` and `nodes` limit the engine's search. The default is 100,000 nodes, or 50 visits in Go. The
        network still predicts what people play.
    engine_options: UCI options of the engine `checked_by`, such as {"Threads": 2}.
    practical: only for chess, and for networks with rating inputs: whether annotated moves get an attribute
        `practical`. `practical.chosen` is the move that scores best against the opponent's likely replies.
        `practical.best` is the best move. The ratings of both players must be known.

    In chess, the result is a kibitz.analysis.chess.moves.AnalysedGame. It has a list `moves`, and the array `white`,
    float64 [moves + 1]: White's win probability in each position. `white` is None if the network does not predict who
    wins. A move has san, uci, mark, worth, expected and judged. `mark` is the annotation, `worth` is the change of the
    win probability, and `expected` contains the most likely moves. `judged` is the result of the search: loss, best and
    line.

    In Go, the result is a kibitz.analysis.go.games.AnalysedGame. It has the lists `positions`, `moves` and `assumed`. A
    position has black_owns (Black's ownership map) and score. A move has vertex, change (of the mover's lead, in
    points) and mark. `assumed` has a text for each fact that kibitz assumes because the record does not contain it.

    Both results have `swings`, `average_loss`, `summary` and `as_json`. `as_json()` returns the output of `kibitz
    analyze --json` for the game.

    Moves after the first illegal move, or after the end of an incomplete text, are skipped. If moves are skipped,
    `record.problem` (in Go `problem`) is the reason.

    Raises KibitzError if the file or the game does not exist, or if the game can't be analyzed. Raises UsageError for
    an option that is out of range, or that this network does not support. Raises UsageError also if the network plays
    another game than the one in the file.

    >>> import kibitz
    >>> game = kibitz.analyse("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0", "chessnet")
    >>> [move.san for move in game.moves], game.moves[-1].mark
    (['e4', 'e5', 'Qh5', 'Ke7', 'Qxe5#'], '#')
    >>> game.white.shape, game.moves[0].expected.rank
    ((6,), 1)
    >>> len(kibitz.analyse("(;GM[1]SZ[9]KM[5.5];B[ee];W[ec])", "gocnn").positions)
    3
    """
    check_whole("number", number, 1)
    options = GameOptions(swing, ratings, raw, depth, nodes, checked_by, engine_options, practical)
    with contextlib.closing(_analysed(game, network, number, options)) as games:
        if (analysed := next(games, None)) is not None:
            return analysed
    raise KibitzError(f"{_name(game)} has no game that kibitz can analyze. Give a game in PGN or SGF format.")


def analyse_all(
    file: str | Path,
    network: TrainedNetwork | str | Path,
    *,
    swing: float | None = None,
    ratings: tuple[int, int] | None = None,
    raw: bool = False,
    depth: int | None = None,
    nodes: int | None = None,
    checked_by: str | None = None,
    engine_options: Mapping[str, str | int] | None = None,
    practical: bool = False,
) -> Iterator[AnalysedGame]:
    """Yield the analysis of every game in a file, as `analyse` returns it. Only one game at a time is in memory.

    Games that can't be analyzed are skipped; the other games keep their numbers in the file (`record.number`, in Go
    `number`). Arguments and errors are those of `analyse`.

    >>> import kibitz
    >>> games = kibitz.analyse_all("my-games.pgn", "winner")
    >>> next(games).record.game.headers["White"]
    'Stockfish 15.1'
    """
    from kibitz.api.networks import TrainedNetwork, load_network

    loaded = network if isinstance(network, TrainedNetwork) else load_network(network)
    _path(file)  # a missing file is reported now, not with the first game
    options = GameOptions(swing, ratings, raw, depth, nodes, checked_by, engine_options, practical)
    return _analysed(file, loaded, None, options)


def rate(file: str | Path, player: str | Sequence[str] | None = None) -> PlayerStrength:
    """Estimate a player's rating from the moves in the chess games of a file or folder.

    player: the player's name, or a list of the names that one player has in the games; None for the player who is in
    nearly all games.

    The result's method `rating()` returns the estimate with value, low and high (the 90% interval), and the numbers of
    games and moves. For fewer than five games, it returns None. The method `parts()` returns estimates by phase, color,
    speed, time left and month. The attribute `scale` is the rating scale, such as "lichess". Games with less than 29
    seconds per player are skipped, and repeated games count once. Raises KibitzError if there is no such file or game,
    and UsageError for an unknown player and for games of Go.

    >>> import kibitz
    >>> strength = kibitz.rate("my-games.pgn", "Stockfish 15.1")
    >>> strength.name
    'Stockfish 15.1'
    """
    from kibitz.analysis.chess.player_sides import players_in
    from kibitz.analysis.chess.strength.player import PlayerStrength, add_games, chess_files
    from kibitz.messages import warning

    path = os.fspath(file)
    files = chess_files(path)
    names = [player] if isinstance(player, str) else list(player or ())
    players = players_in(files, names, records.printable(path))
    strength = PlayerStrength(", ".join(one.name for one in players))
    for _ in add_games(strength, files, players, warning):
        pass
    return strength


@dataclass(frozen=True)
class GameOptions:
    """The options of the function `analyse`, whose docstring explains them. Raises UsageError for values that no
    network accepts.
    """

    swing: float | None
    ratings: tuple[int, int] | None
    raw: bool
    depth: int | None
    nodes: int | None
    checked_by: str | None = None
    engine_options: Mapping[str, str | int] | None = None
    practical: bool = False

    def __post_init__(self) -> None:
        from kibitz.analysis.chess.judging import MAX_DEPTH

        for name in ("swing", "ratings", "depth", "nodes"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        if self.raw and (self.depth is not None or self.nodes is not None):
            raise UsageError(
                "raw shows values without a search, so it cannot be combined with depth or nodes. Leave depth and nodes"
                " out."
            )
        if self.raw and self.checked_by is not None:
            raise UsageError(
                "raw shows values of the network, so it cannot be combined with checked_by. Leave one out."
            )
        if self.raw and self.practical:
            raise UsageError("practical needs a search, so it cannot be combined with raw. Leave one out.")
        if self.engine_options and self.checked_by is None:
            raise UsageError("engine_options need an engine. Add checked_by.")
        if self.swing is not None:
            check_number("swing", self.swing)
        if self.checked_by is not None:
            return
        if self.depth is not None:
            check_whole("depth", self.depth, 1, MAX_DEPTH)
        if self.nodes is not None:
            check_whole("nodes", self.nodes, 0)

    def checker(self, network: TrainedNetwork) -> Checker | None:
        """Return the external engine that evaluates the moves; None if the network evaluates them.

        Raises UsageError if the engine is not installed or does not play the network's game, and if its limits are
        invalid.
        """
        from kibitz.analysis.checkers import find_checker

        if self.checked_by is None:
            return None
        return find_checker(
            self.checked_by, network.game, network.name, self.engine_options, self.nodes, self.depth, dashes=False
        )


def _analysed(game: Any, network: Any, number: int | None, options: GameOptions) -> Generator[AnalysedGame]:
    """Yield the analyzed games. number: the number of a single game; None for all games that can be analyzed."""
    from kibitz.api.networks import TrainedNetwork, load_network

    loaded = network if isinstance(network, TrainedNetwork) else load_network(network)
    if loaded.game == "chess":
        yield from _of_chess(game, loaded, number, options)
    else:
        yield from _of_go(game, loaded, number, options)


def _of_chess(
    game: Any, network: TrainedNetwork, number: int | None, options: GameOptions
) -> Iterator[AnalysedChessGame]:
    import chess.pgn

    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import judge_by_search, predicts_winner
    from kibitz.games.chess.io.reader import parse, read

    swing, ratings = CHESS_SWING if options.swing is None else options.swing, options.ratings
    if not 0 < swing <= 1:
        raise UsageError(
            f"swing must be greater than 0 and at most 1 (got {swing:g}). Give a win probability, such as 0.1."
        )
    if options.swing is not None and options.checked_by is None and not predicts_winner(network._session):
        raise UsageError(
            f"swing does not work with {network.name}, which does not predict who wins (got {swing:g}). Leave swing"
            " out."
        )
    if ratings is not None:
        _check_ratings(ratings, network)
    games: Iterator[Record]
    if isinstance(game, chess.pgn.Game):
        game = str(game)
    path = _path(game)
    _check_number(number, path)
    if path is not None:
        if path.lower().endswith((".sgf", ".sgfl", ".gib")):
            raise UsageError(
                f"{path} is a Go game, and {network.name} is a network for chess. Choose a network for Go, such as"
                " 'gohuman'."
            )
        games = read(path, number)
    else:
        record = parse(game, allow_null=True)
        if record is None:
            raise KibitzError("this text contains no chess game. Give a game in PGN format.")
        games = iter([record])
    session, analysis = network._session, load(network.system)
    if options.practical and "opponent_rating" not in network.side_inputs:
        raise UsageError(
            f"practical needs a network with rating inputs, and {network.name} has none. Use the network 'human'."
        )
    if (checker := options.checker(network)) is not None:
        from kibitz.analysis.chess.engine_judge import EngineJudge

        with EngineJudge(session, analysis, checker) as engine:
            yield from _judged_chess(game, network, number, games, swing, ratings, engine, options.practical)
        return
    judge = None if options.raw else judge_by_search(session, analysis, options.depth, options.nodes)
    if options.nodes and (judge is None or not judge.searches):
        remedy = "Leave nodes out." if judge is None else "Use depth."
        raise UsageError(
            f"nodes cannot be used with {network.name}, which does not search (got {options.nodes}). {remedy}"
        )
    if options.depth is not None and judge is None:
        raise UsageError(
            f"depth does not work with {network.name}, which does not predict who wins (got {options.depth}). Leave"
            " depth out."
        )
    yield from _judged_chess(game, network, number, games, swing, ratings, judge, options.practical)


def _judged_chess(
    game: Any, network: TrainedNetwork, number: int | None, games: Iterator[Record], swing: float,
    ratings: tuple[int, int] | None, judge: Judge | None, practical: bool,
) -> Iterator[AnalysedChessGame]:  # fmt: skip
    from kibitz.analysis import load
    from kibitz.analysis.checkers import GameRejected
    from kibitz.analysis.chess.moves import analyse as analyse_chess
    from kibitz.analysis.chess.moves import meaning_of
    from kibitz.analysis.chess.practical import with_practical_choices

    meaning, analysis = meaning_of(network.system, judge is not None), load(network.system)
    for record in games:
        reason = record.refused
        if not reason:
            try:
                analysed = analyse_chess(record, network._session, analysis, swing, ratings, meaning, judge)
                analysed = with_practical_choices(analysed, judge, ratings) if practical and judge else analysed
            except GameRejected as error:
                reason = str(error)
            else:
                yield analysed
        if reason and number is not None:
            raise KibitzError(f"{_name(game)} game {record.number}: {reason}")


def _of_go(game: Any, network: TrainedNetwork, number: int | None, options: GameOptions) -> Iterator[AnalysedGoGame]:
    import chess.pgn

    from kibitz.games.go.io.sgf import parse_record, read_records

    if isinstance(game, chess.pgn.Game):
        raise UsageError(
            f"{network.name} is a network for Go (got a chess game). Choose a network for chess, such as 'human'."
        )
    if options.ratings is not None:
        raise UsageError(
            f"ratings do not work with {network.name}, which has no rating inputs (got {options.ratings}). Leave"
            " ratings out."
        )
    if options.practical:
        raise UsageError(
            f"practical works only for chess, and {network.name} is a network for Go. Leave practical out."
        )
    checker = options.checker(network)
    if options.depth is not None:
        raise UsageError(
            f"depth works only for chess, and {network.name} is a network for Go (got {options.depth}). Leave depth"
            " out."
        )
    if options.nodes and checker is None and "policy" not in network._session.outputs:
        raise UsageError(
            f"nodes does not work with {network.name}, which does not predict moves (got {options.nodes})."
            " Use the network 'gohuman'."
        )
    swing = options.swing
    if swing is not None and not 0 < swing <= 361:
        raise UsageError(f"swing must be greater than 0 and at most 361 points (got {swing:g})")
    games: Iterator[GoRecord | Unreadable]
    path = _path(game)
    _check_number(number, path)
    if path is not None:
        if path.lower().endswith(".pgn"):
            raise UsageError(
                f"{path} is a chess game, and {network.name} is a network for Go. Choose a network for chess, such"
                " as human."
            )
        games = read_records([path], cut=True)
    else:
        try:
            games = iter([parse_record(str(game), cut=True)])
        except ValueError as error:
            raise KibitzError(
                f"this text contains no Go game that kibitz can read: {' '.join(str(error).split())}. Check that it is"
                " SGF."
            ) from None
    if checker is None:
        yield from _judged_go(game, network, number, games, options, None)
        return
    from kibitz.analysis.go.engine_judge import GoEngineJudge

    with GoEngineJudge(checker) as engine:
        yield from _judged_go(game, network, number, games, options, engine)


def _judged_go(
    game: Any, network: TrainedNetwork, number: int | None, games: Iterator[GoRecord | Unreadable],
    options: GameOptions, engine: GoEngineJudge | None,
) -> Iterator[AnalysedGoGame]:  # fmt: skip
    from kibitz.analysis import load_owners
    from kibitz.analysis.checkers import GameRejected
    from kibitz.analysis.go.games import analyse as analyse_go
    from kibitz.games.go.io.sgf import Unreadable

    count, session, nodes = 0, network._session, 0 if options.raw else options.nodes
    for record in games:
        if isinstance(record, Unreadable) and record.is_stray:
            continue
        if isinstance(record, Unreadable) and record.number == 0:
            raise KibitzError(f"{record.file}: {record.reason}")
        count += 1
        if number not in (None, count):
            continue
        problem = record.reason if isinstance(record, Unreadable) else ""
        if not isinstance(record, Unreadable) and record.size > max(network.board_sizes):
            largest = max(network.board_sizes)
            problem = f"the board is {record.size}×{record.size}, and {network.name} takes at most {largest}×{largest}"
        if not isinstance(record, Unreadable) and not problem:
            try:
                yield analyse_go(
                    count, record, session, load_owners(network.system), options.swing, nodes, steadied=True,
                    engine=engine,
                )  # fmt: skip
            except GameRejected as error:
                problem = str(error)
        if problem and number is not None:
            raise KibitzError(f"{_name(game)} game {count}: {problem}")
        if number is not None:
            return
    if number is not None:
        raise KibitzError(f"{_name(game)} has no game {number}. Choose a number from 1 to {count:,}.")


def _check_number(number: int | None, path: str | None) -> None:
    if path is None and number not in (None, 1):
        raise UsageError(
            f"number must be 1 for a text, because kibitz reads only its first game (got {number}). Save the text to a"
            " file."
        )


def _path(game: Any) -> str | None:
    """Return the path if `game` is a path; None if it is a text. Raises KibitzError for a missing file."""
    if not isinstance(game, (str, os.PathLike)):
        raise UsageError(f"game must be a file, the text of a game or a chess.pgn.Game (got {type(game).__name__})")
    if isinstance(game, str) and _is_text(game):
        return None
    path = str(os.fspath(game))
    if len(os.path.basename(path)) > _LONGEST_NAME:
        raise KibitzError("this text contains no game that kibitz can read. Give a game in PGN or SGF format.")
    if not Path(path).exists():
        records.find([path], ())  # also finds a file in an archive or at an address; raises an error if it is missing
    return path


def _is_text(game: str) -> bool:
    """Return whether this is the text of a game. A single line that ends like a file name of games, or that is the name
    of a file, is a path.
    """
    text = game.strip()
    if "\n" in text:
        return True
    plain = text.lower()
    for packed in records.PACKED:
        plain = plain.removesuffix(packed)
    if plain.endswith((".pgn", ".sgf", ".sgfl", ".gib")):
        return False
    begins = text.startswith(("[", "(", "{")) or re.match(r"\d+\s*\.", text) is not None or _begins_with_move(text)
    return begins and not (len(text) < _LONGEST_NAME and Path(text).exists())


def _begins_with_move(text: str) -> bool:
    from kibitz.games.chess.io.san import looks_like_move, read_word

    words = text.split()
    return len(words) > 1 and looks_like_move(read_word(words[0]).core)


def _name(game: Any) -> str:
    return records.printable(path) if (path := _path(game)) is not None else "the text"


def _check_ratings(ratings: tuple[int, int], network: TrainedNetwork) -> None:
    from kibitz.analysis.chess.limits import HIGHEST, LOWEST

    if "rating" not in network.side_inputs:
        raise UsageError(
            f"ratings do not work with {network.name}, which has no rating inputs (got {ratings}). Use the network"
            " 'human'."
        )
    if not isinstance(ratings, (tuple, list)) or len(ratings) != 2:
        raise UsageError(f"ratings must be two numbers, White's and Black's (got {ratings!r})")
    for rating in ratings:
        check_number("rating", rating)
        if not LOWEST <= rating <= HIGHEST:
            raise UsageError(f"rating must be from {LOWEST} to {HIGHEST} (got {rating})")
