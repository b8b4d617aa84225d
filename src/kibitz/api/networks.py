"""Load trained networks, and evaluate positions with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.api.checks import check_number, check_whole
from kibitz.api.positions import KOMI, PositionArrays, ReadPosition, check_arrays, check_to_move, read_position, stack
from kibitz.errors import UsageError
from kibitz.games import GAME_NAMES
from kibitz.messages import not_one_of
from kibitz.systems.declaration import GO_PUCT

if TYPE_CHECKING:
    from kibitz.api.moves import ChosenMove, ChosenPoint
    from kibitz.api.positions import SgfmillBoard
    from kibitz.api.training import TrainingRun
    from kibitz.games.go.endings.final import FinalCount
    from kibitz.games.go.rules import Board as GoBoard
    from kibitz.play.go.thought import Terms
    from kibitz.play.session import Answers
    from kibitz.play.value import PositionValue
    from kibitz.runs import Run
    from kibitz.systems.declaration import Declaration

TOGETHER = 512
"""The number of positions in a batch for the network. It is limited, because the outputs need much memory."""


class SideInputs(TypedDict, total=False):
    """Keywords of the methods `predict`, `evaluate` and `choose_move` of a network: the side inputs, which are inputs
    of a network in addition to the position. Only some networks, such as `human`, have side inputs.

    rating: the rating of the player to move, 100 to 4000.
    opponent_rating: the rating of the opponent; by default the same as `rating`.
    speed: "bullet", "blitz", "rapid", "classical" …
    scale: the rating scale: "fide", "lichess", "chess.com" or "fics".
    rank: in Go, the rank of both players, "15k" to "9d". If you give a rank, the network also takes the komi, the rules
        and the handicap of the position as inputs.
    side_inputs: a dict from the names of further inputs to their values, 0 to 255.

    An input that you do not give has its default value, usually "unknown". Networks that need the last moves take them
    from the history of a chess.Board.

    >>> import chess, kibitz
    >>> player: kibitz.SideInputs = {"rating": 1000, "speed": "blitz"}
    >>> kibitz.load_network("human").evaluate(chess.Board(), **player).moves[0].san
    'e4'
    """

    rating: int | None
    opponent_rating: int | None
    speed: str | None
    scale: str | None
    rank: str | None
    side_inputs: Mapping[str, int] | None


class MoveOptions(SideInputs, total=False):
    """Keywords of `TrainedNetwork.choose_move`; all are optional. They include the keywords of `SideInputs`. In chess,
    the side inputs, such as ratings, affect only the methods top-prob, top-move and human-search.

    If you give a `rank`, a Go network imitates players of this rank. It samples a move from its predicted move
    probabilities, without a search. kibitz's tests have not measured how strong these moves are.

    method: the name of a method from the network's attribute `methods`; None for the first name in this attribute.
    depth, nodes, seconds: in chess, the limits of a search: plies, evaluated positions and seconds. The search ends
        when it reaches one of these limits. If you give no limit, the search takes one second.
    nodes, seconds: in Go, the number of visits (default 200) and the seconds of a search. `depth` is not possible in
        Go, and `nodes` is possible only for networks that search. A Go network that does not search evaluates the
        position after every legal move; the limit `seconds` can end these evaluations earlier.
    temperature: the randomness of the choice. 0 plays the best move, and 1 samples each move with its predicted
        probability. The default is 0. If you give a `rank`, the default is 1.
    seed: the random seed for sampling; None for a random seed.
    to_move: the side to move, "b" or "w", for boards of the library sgfmill.
    komi: in points; None for the komi of the SGF, or 7.5 for boards.
    rules: the name of the Go rules, by default "chinese"; other names are those of KataGo, such as "japanese".

    >>> import chess, kibitz
    >>> quick: kibitz.MoveOptions = {"method": "top-prob", "temperature": 1.0, "seed": 1}
    >>> chosen = kibitz.load_network("chessnet").choose_move(chess.Board(), **quick)
    >>> chosen.nodes
    1
    """

    method: str | None
    depth: int | None
    nodes: int | None
    seconds: float | None
    temperature: float
    seed: int | None
    to_move: str | None
    komi: float | None
    rules: str


@dataclass(frozen=True)
class MoveProbability:
    """A legal move and its probability, 0 to 1. The probabilities of all legal moves sum to 1. move: the move, for
    `board.push`. san: the move in SAN, such as "Nf3". uci: the move in UCI notation, such as "g1f3".

    >>> import chess, kibitz
    >>> best = kibitz.load_network("chessnet").evaluate(chess.Board()).moves[0]
    >>> best.san, 0 < best.probability < 1
    ('e4', True)
    """

    move: chess.Move
    san: str
    uci: str
    probability: float


@dataclass(frozen=True)
class PointProbability:
    """A Go move and its probability, 0 to 1. The probabilities of all legal moves sum to 1.

    point: row · 19 + column, where row 0 is the upper edge and column 0 the left edge; 361 for a pass. vertex: the move
    in GTP notation, such as "D4" or "pass".

    >>> import kibitz
    >>> best = kibitz.load_network("gohuman").evaluate(kibitz.make_go_board(size=9)).moves[0]
    >>> best.vertex[0] in "ABCDEFGHJ", 0 < best.probability < 1
    (True, True)
    """

    point: int
    vertex: str
    probability: float

    @property
    def san(self) -> str:
        """The move in GTP notation, like `vertex`. Chess moves have an attribute with this name, too."""
        return self.vertex


@dataclass(frozen=True, repr=False)
class PositionEvaluation:
    """The evaluation of one position by a network. A value is None if the network does not have this output.

    white: in chess, a value from 0 to 1, usually White's win probability. If the game is over by mate, stalemate or
        insufficient material, `white` is White's result: 1, 0 or 0.5.
    outcome: the probabilities of a White win, a draw and a Black win, 0 to 1, for networks that predict draws.
    moves: all legal moves, the most likely first, with probabilities that sum to 1. In chess, each is a
        MoveProbability. If the network can't predict underpromotions, they are omitted. In Go, each is a
        PointProbability, and moves with probability 0 are omitted.
    black: in Go, Black's win probability, 0 to 1.
    owners: in Go, the probability that each point will belong to Black, float32 [size, size]; row 0 is the upper edge,
        column 0 the left edge.
    score: in Go, Black's lead in points, komi included.
    meaning: the name of the value `white` or `black`, such as "White's win probability" or "White's expected score"; ""
        if `white` and `black` are None.

    >>> import kibitz
    >>> mate = kibitz.load_network("winner").evaluate("7k/5KQ1/8/8/8/8/8/8 b - - 0 1")
    >>> mate.white, mate.moves, mate.meaning
    (1.0, None, "White's win probability")
    >>> mate
    White's win probability 100%
    """

    white: float | None = None
    outcome: tuple[float, float, float] | None = None
    moves: tuple[MoveProbability, ...] | tuple[PointProbability, ...] | None = None
    black: float | None = None
    owners: NDArray[np.float32] | None = field(default=None, compare=False)
    score: float | None = None
    meaning: str = ""

    def __repr__(self) -> str:
        chance = self.white if self.white is not None else self.black
        parts = [] if chance is None else [f"{self.meaning} {chance:.0%}"]
        if self.score is not None:
            parts.append(f"{'Black' if self.score >= 0 else 'White'} leads by {abs(self.score):.1f} points")
        if self.moves is not None:
            parts.append(", ".join(f"{move.san} {move.probability:.0%}" for move in self.moves[:5]) or "no legal move")
        return "; ".join(parts)


class TrainedNetwork:
    """A trained network that is loaded and ready to evaluate positions; `load_network` returns it. Several threads may
    use it.

    name: the network's name. path: the folder of the network.
    system: the system (the kind of network), such as "chessnet".
    game: "chess" or "go".
    outputs: the names of the arrays that `predict` returns.
    side_inputs: the names of the inputs in addition to the position, such as "rating"; () for most networks.
    methods: the names of the methods with which the network can choose a move, the default first; () if it can't.
    board_sizes: in Go, the supported board sizes.
    meaning: the event whose probability the network predicts, as text, such as "White's win probability".

    >>> import kibitz
    >>> network = kibitz.load_network("chessnet")
    >>> network
    TrainedNetwork('chessnet', system='chessnet', game='chess')
    >>> network.outputs
    ('origin', 'target', 'value')
    >>> network.methods
    ('puct', 'topprob-negamax', 'top-prob', 'top-move', 'value-negamax', 'thesis-negamax')
    """

    def __init__(self, run: Run | str | Path):
        from kibitz.play.session import Session
        from kibitz.systems import find

        self._session = Session(run)
        self._run = self._session.run
        self._declaration: Declaration = find(self._session.system)
        settings = self._run.info["settings"]
        self.name = self._session.name
        self.path: Path = self._run.path
        self.system = self._session.system
        self.game = self._session.game
        self.outputs: tuple[str, ...] = tuple(self._session.outputs)
        self.side_inputs: tuple[str, ...] = tuple(self._session.side_inputs)
        self.methods: tuple[str, ...] = tuple(method.name for method in self._declaration.methods_of(settings))
        self.board_sizes: tuple[int, ...] = self._declaration.sizes_of(settings)
        self.meaning = self._declaration.meaning.name

    def __repr__(self) -> str:
        return f"TrainedNetwork({self.name!r}, system={self.system!r}, game={self.game!r})"

    def predict(
        self,
        positions: Sequence[chess.Board | GoBoard | SgfmillBoard | str] | PositionArrays | tuple[Any, Any],
        *,
        to_move: str | None = None,
        **inputs: Unpack[SideInputs],
    ) -> dict[str, NDArray[np.float32]]:
        """Return the network's raw outputs for n positions: a dict of float32 arrays whose first axis is n.

        positions: a list of positions in a form that `encode_positions` accepts. In place of the list, you can give the
            arrays (codes, state), which PositionArrays describes.
        to_move: "b" or "w", for sgfmill boards.
        inputs: the keywords of `SideInputs` (ratings, komi and other facts besides the board). If you give arrays,
            `state` may contain these inputs as further columns, in the order of the attribute `side_inputs`. In this
            case, give no keywords.

        kibitz.systems.declaration.OUTPUTS describes each output. The squares and points in all outputs are those of the
        board; nothing is mirrored if Black is to move.

        Raises UsageError for positions of the wrong game (chess for a Go network or the reverse), and for boards of an
        unsupported size. Raises UsageError also for arrays of another dtype or shape, and for side inputs that the
        network doesn't have. Raises KibitzError for invalid positions.

        >>> import chess, kibitz
        >>> network = kibitz.load_network("winner")
        >>> answers = network.predict([chess.Board(), "4k3/8/8/8/8/8/8/QQ1K4 w - - 0 1"])
        >>> answers["white_wins"].shape, answers["white_wins"].dtype
        ((2,), dtype('float32'))
        >>> bool(answers["white_wins"][0] < answers["white_wins"][1])
        True
        """
        values = self._side_values("predict", inputs)
        codes, state, _ = self._rows(positions, values, to_move, None, self._rank(inputs))
        return dict(self._session.evaluate(codes, state))

    def evaluate(
        self,
        position: chess.Board | GoBoard | SgfmillBoard | str,
        *,
        to_move: str | None = None,
        komi: float | None = None,
        **inputs: Unpack[SideInputs],
    ) -> PositionEvaluation:
        """Return the evaluation of one position.

        komi: only for Go: the komi in points; None for the komi of the SGF, or 7.5 if the position is a board. The
        other arguments and the errors are those of `predict`.

        In Go, the result is the mean of several network evaluations: for both sides to move, on the board and its
        mirror image. This mean varies less than a single evaluation. The browser page of `kibitz board` and
        `kibitz.show` use the same mean.

        >>> import chess, kibitz
        >>> board = chess.Board()
        >>> board.push_san("e4")
        Move.from_uci('e2e4')
        >>> result = kibitz.load_network("chessnet").evaluate(board)
        >>> 0 < result.white < 1, len(result.moves), round(sum(move.probability for move in result.moves), 4)
        (True, 20, 1.0)
        >>> kibitz.load_network("gocnn").evaluate(kibitz.make_go_board(["E5"], size=9)).owners.shape
        (9, 9)
        """
        values = self._side_values("evaluate", inputs)
        return self._evaluations([position], values, to_move, komi, self._rank(inputs))[0]

    def evaluate_all(
        self,
        positions: Sequence[chess.Board | GoBoard | SgfmillBoard | str] | PositionArrays | tuple[Any, Any],
        *,
        to_move: str | None = None,
        komi: float | None = None,
        **inputs: Unpack[SideInputs],
    ) -> list[PositionEvaluation]:
        """Return the evaluations of any number of positions, in their order. The arguments are those of `predict` and
        `evaluate`. One call is much faster than a call of `evaluate` for each position.

        >>> import kibitz
        >>> positions = ["k7/8/8/8/8/8/QR6/K7 b - - 0 1", "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"]
        >>> kibitz.load_network("winner").evaluate_all(positions)[1]
        White's win probability 100%
        """
        values = self._side_values("evaluate_all", inputs)
        return self._evaluations(positions, values, to_move, komi, self._rank(inputs))

    def value_position(
        self,
        position: chess.Board | GoBoard | SgfmillBoard | str,
        *,
        nodes: int | None = None,
        to_move: str | None = None,
        komi: float | None = None,
        rules: str | None = None,
    ) -> PositionValue:
        """Return the value of a position after a search: the win probability of White in chess and of Black in Go, a
        proven mate, and the best line. The browser page of `kibitz board`, `kibitz analyze` and kibitz's UCI and GTP
        engines show the same value. `evaluate` returns the network's output without a search.

        The method depends on the network. If the network supports a PUCT search (a Monte Carlo tree search), the result
        is the value that this search finds for the best move. For other chess networks, a short alpha-beta search finds
        a quiet position, in which no capture wins material. The material and the network's evaluation of the quiet
        position give the value. Other Go networks evaluate the position without a search. If two passes ended a Go
        game, the final position is scored.

        nodes: the number of evaluations of the search; None for the default (in Go 120 visits).
        to_move, komi: only for Go, as in `evaluate`.
        rules: only for Go: a name such as "japanese"; None for the rules of the SGF, or "chinese" for boards.

        Raises UsageError for networks that do not predict who wins, for less than one node, and for a value of `nodes`
        if the network does not search. For other errors, see `predict`.

        >>> import kibitz
        >>> value = kibitz.load_network("chessnet").value_position("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
        >>> value.chance, value.mate, value.moves[0]
        (1.0, 2, 'a1a6')
        >>> ended = "(;SZ[9]KM[7]RU[Chinese];B[ee];W[];B[])"
        >>> value = kibitz.load_network("gohuman").value_position(ended)
        >>> value.chance, value.lead, value.source
        (1.0, 74.0, 'rules')
        """
        from kibitz.analysis import load
        from kibitz.analysis.chess.judging import judge_by_search

        if nodes is not None:
            check_whole("nodes", nodes, 1)
        check_to_move([position], to_move)
        read = self._read(position, to_move)
        if read.game == "go":
            from kibitz.play.go.value import VISITS, value_board

            if nodes is not None and "policy" not in self._session.outputs:
                raise UsageError(_no_nodes(self.name, nodes))
            terms = _terms(read, komi, rules)
            return value_board(self._session, read.go_board, terms, VISITS if nodes is None else nodes)
        for name, value in (("komi", komi), ("rules", rules)):
            if value is not None:
                raise UsageError(f"{name} works only for Go, and {self.name} is a network for chess")
        judge = judge_by_search(self._session, load(self.system), None, nodes)
        if judge is None:
            raise UsageError(f"{self.name} does not predict who wins. Use the network 'winner' or 'chessnet'.")
        if nodes is not None and not judge.searches:
            raise UsageError(_no_nodes(self.name, nodes))
        return judge.value(read.chess_board)

    @overload
    def choose_move(self, position: chess.Board, **options: Unpack[MoveOptions]) -> ChosenMove: ...
    @overload
    def choose_move(self, position: GoBoard | SgfmillBoard, **options: Unpack[MoveOptions]) -> ChosenPoint: ...
    @overload
    def choose_move(self, position: str, **options: Unpack[MoveOptions]) -> ChosenMove | ChosenPoint: ...
    def choose_move(
        self, position: chess.Board | GoBoard | SgfmillBoard | str, **options: Unpack[MoveOptions]
    ) -> ChosenMove | ChosenPoint:
        """Return the move that the network plays: a ChosenMove in chess, a ChosenPoint in Go.

        position: as in `evaluate`; the history of a chess.Board is used to detect repetitions. options: those of
        `MoveOptions`, as keywords; all are optional. Raises UsageError for a method that the network doesn't have, for
        a limit or temperature out of range, and for a position without a legal move. The other errors are those of
        `predict`.

        >>> import kibitz
        >>> network = kibitz.load_network("chessnet")
        >>> network.choose_move("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", nodes=100).san
        'Qg7#'
        >>> chosen = network.choose_move("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", method="top-prob")
        >>> chosen.uci == chosen.move.uci()
        True
        """
        from kibitz.api.moves import choose_chess, choose_go
        from kibitz.play.go.imitation import METHOD

        values = self._side_values("choose_move", options, MoveOptions)
        read = self._read(position, options.get("to_move"))
        if read.game == "chess":
            for name in ("to_move", "komi", "rules"):
                if options.get(name) is not None:
                    raise UsageError(
                        f"{name} works only for Go, and {self.name} is a network for chess (got {options.get(name)})."
                        f" Leave {name} out."
                    )
            return choose_chess(self._run, self._session, read.chess_board, options, values)
        check_to_move([position], options.get("to_move"))
        if (method := options.get("method")) not in (None, *self.methods):
            raise UsageError(
                not_one_of("method", method, self.methods)
                if self.methods
                else f"{self.name} cannot play, so it supports no method (got {method!r})"
            )
        used = method or (self.methods[0] if self._rank(options) is None else METHOD)
        if options.get("depth") is not None or (options.get("nodes") is not None and used != GO_PUCT.name):
            raise UsageError(
                f"{(limit := 'depth' if options.get('depth') is not None else 'nodes')} does not work with the method"
                f" {used}. Leave {limit} out."
            )
        komi = _komi(options.get("komi"), read)
        return choose_go(self._run, self._session, read.go_board, options, komi, read.handicap, read.rules, values)

    def _read(self, position: Any, to_move: str | None) -> ReadPosition:
        """Return a position that fits the network. Raises UsageError for another game or size."""
        read = read_position(position, to_move)
        if read.game != self.game:
            raise UsageError(
                f"{self.name} is a network for {GAME_NAMES[self.game]} (got a position of {GAME_NAMES[read.game]})."
                " Choose"
                " another"
                " network."
            )
        if self.game == "go" and read.go_board.size not in self.board_sizes:
            sizes = ", ".join(map(str, self.board_sizes))
            raise UsageError(f"{self.name} supports boards of size {sizes} (got {read.go_board.size})")
        return read

    def _side_values(self, function: str, inputs: SideInputs, keywords: type = SideInputs) -> dict[str, int]:
        """Return the side inputs (ratings, komi and other facts besides the board) by name, 0 to 255, from the keywords
        of a method.

        Raises TypeError for a keyword that is not in `keywords`, and UsageError for a side input that the network does
        not have.
        """
        for name in inputs:
            if name not in keywords.__annotations__:
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        rating, opponent_rating = inputs.get("rating"), inputs.get("opponent_rating")
        speed, scale = inputs.get("speed"), inputs.get("scale")
        given: dict[str, int] = dict(inputs.get("side_inputs") or {})
        self._rank(inputs)
        if rating is not None and opponent_rating is None and "opponent_rating" in self.side_inputs:
            opponent_rating = rating
        for name, value in (("rating", rating), ("opponent_rating", opponent_rating)):
            if value is not None:
                given[name] = _rating(name, value)
        if speed is not None or scale is not None:
            from kibitz.games.chess.sides import SCALES, SPEEDS

            for name, word, known in (("speed", speed, SPEEDS), ("scale", scale, SCALES)):
                if word is not None:
                    if word not in known[1:]:
                        raise UsageError(not_one_of(name, word, known[1:]))
                    given[name] = known.index(word)
        for name, number in given.items():
            if name not in self.side_inputs:
                others = f"also takes {', '.join(self.side_inputs)}" if self.side_inputs else "takes nothing else"
                raise UsageError(f"{self.name} has no input named {name}. It takes a position, and {others}.")
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number <= 255:
                raise UsageError(f"{name} must be a whole number from 0 to 255 (got {number})")
        return given

    def _rank(self, inputs: SideInputs) -> str | None:
        """Return the rank in the keywords of a method in its usual form, such as "5k"; None if they have none. Raises
        UsageError if it is not a rank in range, or if the network has no rank inputs.
        """
        if (rank := inputs.get("rank")) is None:
            return None
        from kibitz.play.go.imitation import imitation

        return imitation(str(rank), network=self.name, takes_ranks=self._run.takes_ranks)["rank"]

    def _rows(
        self, positions: Any, values: Mapping[str, int], to_move: str | None, komi: float | None, rank: str | None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[ReadPosition] | None]:
        """Return codes, state with the side inputs (ratings, komi and other facts besides the board), and the positions
        that were read; None instead of the positions if the caller gave arrays. rank: in Go, the rank of both players,
        from `_rank`.
        """
        from kibitz.play.side_inputs import with_side_inputs
        from kibitz.runs import with_default_side_inputs

        if isinstance(positions, tuple) and len(positions) == 2 and isinstance(positions[0], np.ndarray):
            beyond = self._session.side_inputs
            check_to_move([None], to_move)
            codes, state = check_arrays(positions, self.game, len(beyond), self.board_sizes)
            if not beyond:
                return codes, state, None
            if komi is not None and "komi" in beyond:
                values = {"komi": _komi_input(komi), **values}
            if state.shape[1] == 4:
                usual = {name: value for name, value in _of_boards(rank).items() if name in beyond}
                return codes, with_default_side_inputs(state, {**beyond, **usual, **values}), None
            if values or rank:
                again = ", ".join(values) or "rank"
                raise UsageError(
                    f"state already has columns for further inputs, so {again} cannot be set again (got both). Leave"
                    " one of them out."
                )
            return codes, state, None
        if isinstance(positions, (str, chess.Board)) or not isinstance(positions, Sequence):
            raise UsageError(
                "positions must be a list or arrays (got one position). Use evaluate for one position, or put it in"
                " a list."
            )
        check_to_move(positions, to_move)
        read = [self._read(position, to_move) for position in positions]
        if not read:
            width = 64 if self.game == "chess" else 361
            return np.zeros((0, width), np.uint8), np.zeros((0, 4), np.uint8), []
        codes, state = stack(read)
        if self._session.side_inputs and self.game == "go":
            usual = self._session.side_inputs
            beyond_board = [list({**usual, **_of_game(one, komi, rank), **values}.values()) for one in read]
            state = np.concatenate([state, np.array(beyond_board, np.uint8)], 1)
        elif self._session.side_inputs:
            state = np.concatenate(
                [
                    with_side_inputs(state[i : i + 1], self._session.side_inputs, one.chess_board, values)
                    for i, one in enumerate(read)
                ]
            )
        return codes, state, read

    def _evaluations(
        self, positions: Any, values: Mapping[str, int], to_move: str | None, komi: float | None, rank: str | None
    ) -> list[PositionEvaluation]:
        if komi is not None and self.game == "chess":
            raise UsageError(
                f"komi works only for Go, and {self.name} is a network for chess (got {komi}). Leave komi out."
            )
        codes, state, read = self._rows(positions, values, to_move, komi, rank)
        evaluations: list[PositionEvaluation] = []
        for at in range(0, len(codes), TOGETHER):
            some = slice(at, at + TOGETHER)
            its = read[some] if read is not None else None
            answers = self._answers(codes[some], state[some], its)
            if self.game == "chess":
                evaluations += self._of_chess(answers, codes[some], state[some], its)
            else:
                evaluations += self._of_go(answers, state[some], its, komi)
        return evaluations

    def _answers(self, codes: NDArray[np.uint8], state: NDArray[np.uint8], read: list[ReadPosition] | None) -> Answers:
        """Return the network's outputs for some positions. In Go, they are the steadier outputs of
        `play.go.ownership.judge`.
        """
        if self.game != "go":
            return self._session.evaluate(codes, state)
        from kibitz.games.go.endings.counting import TERRITORY
        from kibitz.play.go.ownership import judge
        from kibitz.play.go.thought import Terms

        stones = np.array([one.handicap for one in read or ()], np.int64)
        territory = np.array([one.rules in TERRITORY for one in read or ()], np.bool_)
        if not stones.any():
            return dict(judge(self._session, Terms()).evaluate(codes, state))
        answers: Answers = {}
        for count, scored in sorted(set(zip(stones.tolist(), territory.tolist(), strict=True))):
            rows = np.flatnonzero((stones == count) & (territory == scored))
            judged = judge(self._session, Terms(territory=scored, handicap=count))
            for name, values in judged.evaluate(codes[rows], state[rows]).items():
                answers.setdefault(name, np.zeros((len(codes), *values.shape[1:]), values.dtype))[rows] = values
        return answers

    def _of_chess(
        self, answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8], read: list[ReadPosition] | None
    ) -> list[PositionEvaluation]:
        from kibitz.analysis import load
        from kibitz.games.chess.replay import decode_board

        analysis = load(self.system)
        white = analysis.white_wins(answers, state)
        expected = analysis.expected_moves(answers, codes, state)
        evaluations = []
        for i in range(len(codes)):
            board = read[i].chess_board if read else decode_board(codes[i], state[i])
            moves = None
            if expected is not None:
                packed, offsets, probabilities = expected
                one = slice(int(offsets[i]), int(offsets[i + 1]))
                moves = _moves(board, packed[one], probabilities[one])
            outcome = None
            if "outcome" in answers:
                win, draw, loss = (float(share) for share in answers["outcome"][i])
                outcome = (win, draw, loss) if board.turn == chess.WHITE else (loss, draw, win)
            chance = None if white is None else float(white[i])
            if (ended := _by_the_rules(board)) is not None:
                chance = None if white is None else ended
                outcome = outcome and (float(ended == 1), float(ended == 0.5), float(ended == 0))
            evaluations.append(
                PositionEvaluation(
                    white=chance, outcome=outcome, moves=moves, meaning=self.meaning if white is not None else ""
                )
            )
        return evaluations

    def _of_go(
        self, answers: Answers, state: NDArray[np.uint8], read: list[ReadPosition] | None, komi: float | None
    ) -> list[PositionEvaluation]:
        from kibitz.analysis import load_owners
        from kibitz.analysis.go.predictions import predictions_of
        from kibitz.play.go import ownership

        predictions = predictions_of(answers, state)
        maps = load_owners(self.system).black_owns(answers).astype(np.float32)
        evaluations = []
        for i, owners in enumerate(maps):
            size = int(state[i, 1])
            moves = None
            if predictions:
                lead, chance, moves = (
                    predictions[i].lead,
                    predictions[i].black_wins,
                    _points(predictions[i].policy, size),
                )
            else:
                given = _terms(read[i], komi).margin if read else _komi(komi, None)
                lead = float(ownership.lead(owners, size)) - given
                chance = ownership.winrate(lead, ownership.spread(owners, size))
            if read and (final := _final(read[i], komi)) is not None:
                lead, chance, owners = final.lead, final.black_wins, final.black_owns
            board = owners[ownership.points_of(size)].reshape(size, size)
            evaluations.append(
                PositionEvaluation(black=chance, owners=board, score=lead, moves=moves, meaning=self.meaning)
            )
        return evaluations


def _no_nodes(name: str, nodes: int) -> str:
    """Return the message for nodes of a network that does not search."""
    return f"nodes cannot be used with {name}, which does not search (got {nodes}). Leave nodes out."


def _rating(name: str, value: int) -> int:
    """Convert a rating to the value of its column."""
    from kibitz.analysis.chess.limits import HIGHEST, LOWEST
    from kibitz.games.chess.sides import RATING_UNIT

    check_number(name, value)
    if not LOWEST <= value <= HIGHEST:
        raise UsageError(f"{name} must be from {LOWEST} to {HIGHEST} (got {value})")
    return min(int(value) // RATING_UNIT, 255)


def _komi(komi: float | None, read: ReadPosition | None) -> float:
    if komi is not None:
        check_number("komi", komi)
        return float(komi)
    return KOMI if read is None or read.komi is None else read.komi


def _final(read: ReadPosition, komi: float | None) -> FinalCount | None:
    """Return the final score of a position in which both players have passed; None for any other position."""
    from kibitz.play.go.value import final_count

    return None if isinstance(read.board, chess.Board) else final_count(read.board, _terms(read, komi))


def _of_game(read: ReadPosition, komi: float | None, rank: str | None) -> dict[str, int]:
    """Return the side inputs of a Go position that are determined by its komi, its rules and the rank of the players.

    Without a rank, the number of handicap stones isn't included: it affects how the players will continue, not who
    leads.
    """
    from kibitz.games.go.sides import board_inputs
    from kibitz.play.go.imitation import players_inputs

    terms = _terms(read, komi)
    known = board_inputs(terms.komi, terms.territory) if rank is None else players_inputs(terms, rank)
    return {**known, "komi": _komi_input(terms.komi)}


def _terms(read: ReadPosition, komi: float | None, rules: str | None = None) -> Terms:
    """Return komi, scoring and handicap for the lead. komi, rules: None for those of the position. Raises UsageError
    for unknown rules.
    """
    from kibitz.games.go.rulesets import UnknownRules, named
    from kibitz.play.go.thought import Terms

    if rules is None:
        return Terms.of_record(read.rules, _komi(komi, read), read.handicap)
    try:
        return Terms.by(named(rules), _komi(komi, read), read.handicap)
    except UnknownRules as error:
        raise UsageError(str(error)) from None


def _of_boards(rank: str | None) -> dict[str, int]:
    """Return the side inputs, other than komi, that a Go board has if nothing else is known of its game. rank: the rank
    of the players; None if it isn't known, either.
    """
    from kibitz.games.go import KOMI
    from kibitz.games.go.sides import board_inputs
    from kibitz.play.go.imitation import players_inputs
    from kibitz.play.go.thought import Terms

    if rank is not None:
        return {name: value for name, value in players_inputs(Terms(KOMI), rank).items() if name != "komi"}
    known = board_inputs(KOMI, territory=False)
    return {"handicap": known["handicap"], "rules": known["rules"]}


def _komi_input(points: float) -> int:
    """Return the side input of a komi. Raises UsageError if the network doesn't support it."""
    from kibitz.games.go.sides import MOST_KOMI, komi_byte

    check_number("komi", points)
    if abs(points) > MOST_KOMI:
        raise UsageError(
            f"komi plus handicap compensation must be from -{MOST_KOMI:g} to {MOST_KOMI:g} points (got {points:g})"
        )
    return komi_byte(points)


def _points(policy: NDArray[np.float32], size: int) -> tuple[PointProbability, ...]:
    """Return the Go moves with a probability above 0, the most likely first."""
    from kibitz.games.go.points import to_gtp

    order = [int(point) for point in np.argsort(-policy, kind="stable") if policy[point] > 0]
    return tuple(PointProbability(point, to_gtp(point, size), float(policy[point])) for point in order)


def _moves(
    board: chess.Board, packed: NDArray[np.uint16], probabilities: NDArray[np.float32]
) -> tuple[MoveProbability, ...]:
    """Return the legal moves of a position, the most likely first."""
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.policy import QUEEN, normalised

    if not len(packed):
        return ()
    shares = normalised(probabilities, np.array([0, len(packed)]))
    promotion = packed >> 12
    known = (promotion == 0) | (promotion == QUEEN) | (probabilities > 0)
    order = np.argsort(-shares, kind="stable")
    moves = []
    for i in order[known[order]]:
        move = to_move(int(packed[i]))
        moves.append(MoveProbability(move, board.san(move), move.uci(), float(shares[i])))
    return tuple(moves)


def _by_the_rules(board: chess.Board) -> float | None:
    """Return White's result, 1, 0 or 0.5, if the game is over; None otherwise."""
    if board.is_insufficient_material():
        return 0.5
    if any(board.generate_legal_moves()):
        return None
    if not board.is_check():
        return 0.5
    return 0.0 if board.turn == chess.WHITE else 1.0


def load_network(name: str | Path | TrainingRun) -> TrainedNetwork:
    """Return a trained network, loaded and ready to evaluate positions.

    name: the name of a bundled network, see `list_networks`; the folder of a run, which is a trained network, such as
    "runs/winner-1"; or the result of `train`. The file model.onnx in the folder computes the outputs on the CPU.
    Without this file, the network needs PyTorch. Raises KibitzError if there is no such run, if it is not trained yet,
    or if its files are damaged.

    >>> import kibitz
    >>> kibitz.load_network("winner").outputs
    ('white_wins',)
    >>> kibitz.load_network("nothing")
    Traceback (most recent call last):
    ...
    kibitz.errors.KibitzError: nothing is not a run or bundled network. To list networks: kibitz systems
    """
    return TrainedNetwork(name if isinstance(name, (str, Path)) else name.path)


def list_networks() -> list[str]:
    """Return the names of the bundled networks: the trained networks that are installed with kibitz.

    >>> import kibitz
    >>> "winner" in kibitz.list_networks()
    True
    """
    from kibitz.runs import packaged

    return list(packaged())


def list_systems() -> dict[str, str]:
    """Return the systems that can be trained, with a short description of each. A system is a kind of network, such as
    "winner". Other installed packages may add systems.

    >>> import kibitz
    >>> kibitz.list_systems()["winner"]
    'predicts who wins'
    """
    from kibitz.systems import SYSTEMS

    return {name: declaration.title for name, declaration in SYSTEMS.items()}
