"""The table of the systems: a dict from the name of each system to its declaration. A system is a kind of network that
kibitz can train, such as `winner`.

The table contains a `Declaration` of each system, which can be read without torch. The system itself needs torch.
Another Python package can add a system with an entry point of the group "kibitz.systems" whose object is a
`Declaration`; see CONTRIBUTING.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kibitz.errors import UsageError, need_training, one_line
from kibitz.messages import did_you_mean, not_one_of, warning
from kibitz.systems.declaration import (
    BEST_SCORE,
    COMPARISON,
    COMPARISON_SEARCH,
    FULL_COMPARISON,
    FULL_COMPARISON_SEARCH,
    GO_PUCT,
    GO_TOP_PROB,
    HUMAN_SEARCH,
    MOVES,
    OWNERS,
    PUCT,
    THESIS_NEGAMAX,
    TOP_MOVE,
    TOP_PROB,
    TOPPROB_NEGAMAX,
    VALUE,
    VALUE_NEGAMAX,
    Declaration,
    Meaning,
    Method,
    Settings,
)
from kibitz.systems.spelling import RENAMED_TRAINING
from kibitz.text import shown

if TYPE_CHECKING:
    from kibitz.systems.base import Recipe, System

__all__ = [
    "COMPARISON",
    "MOVES",
    "OWNERS",
    "SYSTEMS",
    "VALUE",
    "Declaration",
    "Method",
    "find_recipe",
    "load",
    "register",
]

ENTRY_POINTS = "kibitz.systems"
"""The group of entry points with which other Python packages add systems (kinds of networks)."""


def _trained_networks(settings: Settings) -> tuple[str, ...]:
    """Return the kinds of outputs of a system with several networks: those whose networks the setting `networks`
    selects.
    """
    names = str(settings.get("networks", "all"))
    if names == "all":
        return (MOVES, VALUE)
    chosen = {name.strip() for name in names.split(",")}
    return (MOVES,) * bool(chosen - {"value"}) + (VALUE,) * ("value" in chosen)


def _compared(settings: Settings) -> tuple[str, ...]:
    """Return the kinds of outputs of `deepchess`. Runs with the setting `networks` "both" also have the full network's
    output.
    """
    return (COMPARISON, FULL_COMPARISON) if settings.get("networks") == "both" else (COMPARISON,)


def _go_sizes(settings: Settings) -> tuple[int, ...]:
    """Return the board sizes of a Go network: 9, 13 and 19, up to the largest size in the setting `sizes`."""
    try:
        largest = max(int(size) for size in str(settings.get("sizes", "19")).split(","))
    except ValueError:
        largest = 19
    return tuple(size for size in (9, 13, 19) if size <= largest)


_OURS = [
    Declaration(
        name="winner",
        game="chess",
        title="predicts who wins",
        paper="Chess position evaluation with convolutional neural network in Julia (blog post, 2016)",
        anchor="73.5% validation, 71.8% test accuracy on games that end in mate",
        document="the blog post, with the code that it shows, but without its pictures",
        module="kibitz.systems.winner",
        planes="kibitz.systems.planes:winner",
        answers=(VALUE,),
        evaluation="kibitz.evaluation.positions.evaluator",
    ),
    Declaration(
        name="convchess",
        game="chess",
        title="predicts the next move",
        paper="Predicting Moves in Chess using Convolutional Neural Networks (Oshri, Khandwala 2015)",
        anchor="accuracy of the origin 38.3%; of the target P 52.2%, R 29.3%, N 56.2%, B 40.5%, Q 26.5%, K 47.3%",
        document="the page of the Chessprogramming wiki about this paper, in its revision of 1 June 2021. The wiki"
        " rounds the results. The results above are from the paper's abstract. The paper can state more",
        module="kibitz.systems.convchess",
        planes="kibitz.systems.planes:movers",
        answers=(MOVES,),
        evaluation="kibitz.evaluation.policy.evaluator",
        methods=(TOP_PROB, TOP_MOVE),
    ),
    Declaration(
        name="chessnet",
        game="chess",
        title="predicts the next move and the value of the position",
        paper="a thesis on learning chess with convolutional networks (Ashudeep Singh 2015)",
        anchor="accuracy of the origin 56.1%; of the target P 53.6%, R 51.0%, N 72.8%, B 59.9%, Q 48.0%, K 64.5%;"
        " correlation of value and material 0.82",
        document="one chapter of the thesis, without figures and accuracies. The results above are from our notes on"
        " the thesis. The other chapters can state more",
        module="kibitz.systems.chessnet",
        planes="kibitz.systems.planes:movers",
        answers=(MOVES, VALUE),
        trained=_trained_networks,
        evaluation="kibitz.evaluation.policy.evaluator",
        methods=(PUCT, TOPPROB_NEGAMAX, TOP_PROB, TOP_MOVE, VALUE_NEGAMAX, THESIS_NEGAMAX),
    ),
    Declaration(
        name="human",
        game="chess",
        title="predicts the next move at a given rating, and the result",
        anchor="Maia-1 51.6%, Maia-2 52.0% of the moves in Lichess blitz games, after hundreds of millions of"
        " positions",
        module="kibitz.systems.human",
        planes="kibitz.systems.planes:human",
        answers=(MOVES, VALUE),
        evaluation="kibitz.evaluation.policy.human",
        meaning=Meaning("White's expected score", "White scores"),
        # The default method evaluates the network once. The methods with a search play stronger, but less like a
        # person.
        methods=(TOP_PROB, TOP_MOVE, HUMAN_SEARCH, PUCT, TOPPROB_NEGAMAX, VALUE_NEGAMAX),
    ),
    Declaration(
        name="personal",
        game="chess",
        title="predicts the next move of one person",
        anchor="clonefish: adapters add 2.2 percentage points after move 12, with 1,200 games; an opening book adds 3.8"
        " over all moves",
        module="kibitz.personal.chess.system",
        planes="kibitz.systems.planes:human",
        answers=(MOVES, VALUE),
        evaluation="kibitz.evaluation.policy.personal",
        meaning=Meaning("White's expected score", "White scores"),
        methods=(TOP_PROB, TOP_MOVE, HUMAN_SEARCH, PUCT, TOPPROB_NEGAMAX, VALUE_NEGAMAX),
        correction="kibitz.personal.chess.answers:open_correction",
        command="personal",
    ),
    Declaration(
        name="gocnn",
        game="go",
        title="predicts the territory at the end of the game",
        paper="Convolutional neural network for board evaluation in Go (a repository, 2016)",
        anchor="ownership accuracy 80.5% over all positions, over 96% at the end of most games",
        document="the description in the repository. We have not read its code",
        module="kibitz.systems.gocnn",
        planes="kibitz.systems.planes:gocnn",
        answers=(OWNERS,),
        evaluation="kibitz.evaluation.owners.evaluator",
        meaning=Meaning(
            "Black's win probability",
            "Black wins",
            "Derived from the predicted score and its uncertainty.",
        ),
        methods=(BEST_SCORE,),
        board_sizes=_go_sizes,
    ),
    Declaration(
        name="gohuman",
        game="go",
        title="predicts a player's next move, the territory and the winner",
        anchor=(
            "other networks predict 44.4% (Clark and Storkey, 2014) and 52.5% (GoNN, trained on 205 million positions)"
            " of the moves of strong players"
        ),
        module="kibitz.systems.gohuman",
        planes="kibitz.systems.planes:gohuman",
        answers=(OWNERS, MOVES, VALUE),
        evaluation="kibitz.evaluation.policy.gohuman",
        meaning=Meaning("Black's win probability", "Black wins"),
        methods=(GO_PUCT, GO_TOP_PROB, BEST_SCORE),
        board_sizes=lambda settings: (9, 13, 19),
    ),
    Declaration(
        name="gopersonal",
        game="go",
        title="predicts the next move of one Go player",
        module="kibitz.personal.go.system",
        planes="kibitz.systems.planes:gohuman",
        answers=(OWNERS, MOVES, VALUE),
        evaluation="kibitz.evaluation.policy.personal",
        meaning=Meaning("Black's win probability", "Black wins"),
        methods=(GO_TOP_PROB, GO_PUCT, BEST_SCORE),
        board_sizes=lambda settings: (9, 13, 19),
        correction="kibitz.personal.go.answers:open_correction",
        command="personal",
    ),
    Declaration(
        name="deepchess",
        game="chess",
        title="predicts which of two positions is better",
        paper="DeepChess: End-to-End Deep Neural Network for Automatic Learning in Chess (David, Netanyahu, Wolf 2016)",
        anchor="pair accuracy 98.2% in training, 98.0% in validation; not stated whether both contain the same games",
        document="a summary of this paper by another author, from 2019. The paper can state more",
        module="kibitz.systems.deepchess",
        planes="kibitz.systems.planes:deepchess",
        answers=(COMPARISON,),
        trained=_compared,
        evaluation="kibitz.evaluation.pairs.evaluator",
        meaning=Meaning(
            "White's probability of standing better",
            "White better",
            "How likely it is that this position is better for White than a balanced one: the mean of comparisons with "
            "64 balanced positions from the training games.",
        ),
        methods=(COMPARISON_SEARCH, FULL_COMPARISON_SEARCH),
    ),
]


class _Registry(Mapping[str, Declaration]):
    """All systems by name: those of kibitz first, then those of installed packages.

    Entry points are read when an unknown name is looked up, or when all systems are listed. A package's system that
    can't be loaded is reported once and skipped. Systems whose runs are made by a separate command can be looked up,
    but are not listed.
    """

    def __init__(self, own: list[Declaration]):
        self._known = {declaration.name: declaration for declaration in own}
        self._complete = False

    def __getitem__(self, name: str) -> Declaration:
        if name not in self._known:
            self._read_entry_points()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._read_entry_points()
        return (name for name, declaration in self._known.items() if not declaration.command)

    def __len__(self) -> int:
        self._read_entry_points()
        return sum(1 for _ in self)

    def add(self, declaration: Declaration) -> None:
        self._known[declaration.name] = declaration

    def remove(self, name: str) -> None:
        self._known.pop(name, None)

    def _read_entry_points(self) -> None:
        if self._complete:
            return
        self._complete = True
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS):
            try:
                declaration = point.load()
                if not isinstance(declaration, Declaration):
                    raise TypeError(f"{point.value} is not a Declaration")
                if declaration.name in self._known:
                    raise ValueError(f"a system {declaration.name} exists already")
            except Exception as error:  # an error in another package must not stop kibitz
                warning(f"the system {point.name} of another package cannot be used: {one_line(error)}")
            else:
                self.add(declaration)


SYSTEMS = _Registry(_OURS)
"""The declaration of every system (kind of network) by its name, such as "winner"."""


def register(declaration: Declaration) -> None:
    """Add a system (a kind of network) to this process, for example the implementation of a paper. It replaces a system
    of the same name. Installed packages use an entry point instead of this function.
    """
    SYSTEMS.add(declaration)


def find(name: str) -> Declaration:
    """Return the declaration of the system (kind of network) with this name. A declaration describes a system without
    loading torch. Raises UsageError for an unknown name.
    """
    try:
        return SYSTEMS[name]
    except KeyError:
        raise UsageError(
            f"unknown system {shown(name) or 'without a name'}.{did_you_mean(name, SYSTEMS)} To list systems:"
            " kibitz systems"
        ) from None


def load(name: str) -> System:
    """Return the system (kind of network) with this name, which can build and train its networks. This imports torch.

    Raises UsageError for an unknown name, and KibitzError if a required package is not installed.
    """
    declaration = find(name)
    need_training(f"the system {name}")
    system: System = importlib.import_module(declaration.module).SYSTEM
    return system


DEFAULT = "default"
"""The name of the recipe (set of training settings) that training uses if the option --recipe is missing."""


def find_recipe(system: str, name: str) -> Recipe:
    """Return a recipe, a set of settings for training. system: the name of the system (kind of network). name: the name
    of the recipe. Raises UsageError, with the known names, for an unknown name.
    """
    recipes = load(system).recipes
    if name not in recipes:
        raise UsageError(not_one_of("--recipe", name, recipes))
    recipe = recipes[name]
    return replace(recipe, training={RENAMED_TRAINING.get(key, key): v for key, v in recipe.training.items()})
