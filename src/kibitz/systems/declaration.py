"""The declaration of a system (a kind of network): its description for all parts of kibitz except training. It needs no
torch, so `kibitz --help` and engines start quickly.

The commands test, analyze, uci, gtp, match and board read only the declaration of a system. Training also needs the
system itself. No command contains a list of system names, so a new system works everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

VALUE, MOVES, COMPARISON, OWNERS = "value", "moves", "comparison", "owners"
"""Kinds of network outputs: who wins the game, the move, which of two positions is better, and the final owner of each
point.
"""
FULL_COMPARISON = "full comparison"
"""A kind of output of `deepchess` networks that also contain the large network, from which the small network for
COMPARISON is distilled.
"""

OUTPUTS = {
    "white_wins": "float32 [n], 0..1: White's probability of winning",
    "white_better": "float32 [n], 0..1: probability that the position is better for White than a balanced one",
    "value": "float32 [n], −1..1: result for the side to move, a draw being 0",
    "outcome": "float32 [n, 3]: probabilities that the side to move wins, draws, loses",
    "origin": "float32 [n, 64]: probability of each square as the origin of the move; a1 = 0, b1 = 1",
    "target": "float32 [n, 6 or 64, 64]: probability of each target square, by the kind of piece or the origin",
    "promotion": "float32 [n, 8, 4]: probability that a pawn that promotes on each file, the a-file first, becomes a"
    " knight, bishop, rook, queen",
    "black_owns": "float32 [n, 361]: probability that Black owns each point at the end; outside the board undefined",
    "policy": "float32 [n, 362]: probability of each point as the move, and of a pass, the last; 0 outside the board",
    "lead": "float32 [n]: points by which the side to move will lead at the end, komi counted",
    "spread": "float32 [n], over 0: standard deviation of that score, in points",
}
"""Descriptions of the outputs that kibitz understands, by the names in a network's attribute `outputs`.

All outputs refer to the board's real squares and points, also if Black is to move. A network with such outputs works in
all commands.
"""


@dataclass(frozen=True)
class Meaning:
    """How to describe the value that a network predicts, such as White's win probability. In Go, the value is Black's.

    name: the name of the value.
    short: a heading of up to 12 characters.
    note: a sentence that prevents a wrong reading of the values; "" if none is needed.
    """

    name: str = "White's win probability"
    short: str = "White wins"
    note: str = ""


@dataclass(frozen=True)
class Method:
    """A method to choose a move from a network's outputs, such as a search.

    name: for example "top-prob".
    title: what the method does, in a few words.
    needs: the kinds of outputs that the method needs, such as MOVES.
    opener: "module:function". The function is called as `open(run, session, method=..., **settings)` and returns a
        player (see kibitz.play.open_player).
    searches: whether the method searches deeper if it has more time. If false, it always does the same work.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    opener: str
    searches: bool = True


_CHESS, _COMPARING, _GO, _GO_PUCT = (
    "kibitz.play.chess.player:open_player",
    "kibitz.play.comparison.player:open_player",
    "kibitz.play.go.player:open_player",
    "kibitz.play.go.puct:open_player",
)
TOP_MOVE = Method("top-move", "plays the most likely piece to its most likely square", (MOVES,), _CHESS, searches=False)
TOP_PROB = Method("top-prob", "plays the most likely move", (MOVES,), _CHESS, searches=False)
TOPPROB_NEGAMAX = Method("topprob-negamax", "searches likely moves only", (MOVES, VALUE), _CHESS)
VALUE_NEGAMAX = Method("value-negamax", "searches all moves", (VALUE,), _CHESS)
THESIS_NEGAMAX = Method("thesis-negamax", "searches likely moves to a fixed depth", (MOVES, VALUE), _CHESS)
PUCT = Method("puct", "searches with PUCT", (MOVES, VALUE), "kibitz.play.puct.player:open_player")
HUMAN_SEARCH = Method(
    "human-search", "plays human moves, after a short search", (MOVES, VALUE), "kibitz.play.puct.human:open_player",
    searches=False,
)  # fmt: skip
COMPARISON_SEARCH = Method("comparison", "searches by comparing positions", (COMPARISON,), _COMPARING)
FULL_COMPARISON_SEARCH = Method(
    "comparison-full", "searches by comparing positions, with the large network", (FULL_COMPARISON,), _COMPARING
)
BEST_SCORE = Method("best-score", "plays the move with the best score", (OWNERS,), _GO)
GO_PUCT = Method(PUCT.name, PUCT.title, (MOVES, VALUE, OWNERS), _GO_PUCT)
GO_TOP_PROB = Method(TOP_PROB.name, TOP_PROB.title, (MOVES, VALUE, OWNERS), _GO_PUCT, searches=False)
METHODS = {
    method.name: method
    for method in (
        TOP_MOVE, TOP_PROB, TOPPROB_NEGAMAX, VALUE_NEGAMAX, THESIS_NEGAMAX, COMPARISON_SEARCH, FULL_COMPARISON_SEARCH,
        PUCT, HUMAN_SEARCH, BEST_SCORE,
    )
}  # fmt: skip
"""All methods to choose a move, by name. If a name exists for both games, this is the method for chess."""

Settings = Mapping[str, object]
"""The type of a trained network's settings: values by name, as in its run.json."""


@dataclass(frozen=True)
class Declaration:
    """Everything about a system (a kind of network) that kibitz must know without loading torch. A run is one trained
    network of the system.

    name, game: for example "winner" and "chess".
    title: what the system's networks predict, in a few words.
    module: the module that has the `System` in its variable `SYSTEM`. Importing it needs torch.
    answers: the kinds of outputs of the system's networks: VALUE, MOVES, COMPARISON or OWNERS.
    evaluation: the module whose function `evaluate` computes the results for `kibitz test`.
    paper: the paper; "" if there is none.
    anchor: the published result to compare with.
    document: the text that the recipe `paper` follows, such as a summary of the paper; "" if there is none.
    planes: "module:function". The function returns the input planes of a position, with their names, without torch (see
        systems.planes). "" if there is none.
    meaning: the meaning of the value that the system predicts.
    methods: the methods to choose a move, the default first. A run supports a method if its outputs include the
        method's `needs`.
    analysis: the module that reads the outputs for `kibitz analyze` and `kibitz board`. "" selects the game's standard
        module, which reads the outputs in OUTPUTS.
    trained: a function that takes the settings of a run (the folder of a trained network) and returns the kinds of
        outputs of this run. None if every run has all of `answers`.
    board_sizes: for Go, a function that takes the settings of a run and returns the board sizes that this run supports.
    correction: "module:function"; "" if outputs are not corrected. The function takes the run. It returns None, or a
        function that takes `codes`, `state` and the network's outputs and returns corrected outputs.
    command: the command that makes the system's runs, if it is not `train`. `kibitz systems` does not list such a
        system.
    """

    name: str
    game: str
    title: str
    module: str
    answers: tuple[str, ...]
    evaluation: str
    paper: str = ""
    anchor: str = ""
    document: str = ""
    planes: str = ""
    meaning: Meaning = Meaning()
    methods: tuple[Method, ...] = ()
    analysis: str = ""
    trained: Callable[[Settings], tuple[str, ...]] | None = None
    board_sizes: Callable[[Settings], tuple[int, ...]] | None = None
    correction: str = ""
    command: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the fields that `kibitz systems --json` prints, as a dict."""
        return {name: getattr(self, name) for name in ("game", "title", "paper", "anchor", "answers")}

    def answers_of(self, settings: Settings) -> tuple[str, ...]:
        """Return the kinds of outputs, such as VALUE, that a trained network with these settings has."""
        return self.answers if self.trained is None else self.trained(settings)

    def methods_of(self, settings: Settings) -> tuple[Method, ...]:
        """Return the methods to choose a move that a trained network with these settings supports. The default method
        is first.
        """
        answers = self.answers_of(settings)
        return tuple(method for method in self.methods if set(method.needs) <= set(answers))

    def sizes_of(self, settings: Settings) -> tuple[int, ...]:
        """Return the Go board sizes that a trained network with these settings supports, such as (9, 13, 19); () for
        chess.
        """
        return () if self.board_sizes is None else self.board_sizes(settings)
