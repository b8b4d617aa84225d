"""The options of the UCI engine: declare them to a GUI, parse them and store their values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from kibitz.cores import cores
from kibitz.systems import declaration
from kibitz.text import shown, whole_number

AUTO = "auto"
"""The value of the option Method that selects the first suitable method for choosing moves. Each system (kind of
network) has a list of methods, and a method is suitable if the network supports it.
"""
METHODS = tuple(name for name, method in declaration.METHODS.items() if method is not declaration.BEST_SCORE)
EMPTY = "<empty>"
"""The text that UCI uses for an empty value."""
CLEAR_HASH = "clear_hash"
OWN_TEMPERATURE = -1
"""The value of the option Temperature that selects the default temperature. The default is 100 if the engine imitates a
player with a rating, otherwise 0.
"""
ELO = (800, 2800)
"""The lowest and the highest rating that a network with rating inputs can imitate."""


@dataclass(frozen=True)
class Options:
    """The values of the UCI options, and the properties of the network that determine which options exist.

    hash: the size of the hash table in MB.
    threads: the number of threads of a search.
    multipv: the number of moves for which the engine reports a line.
    overhead: the delay between the engine and the GUI's clock, in milliseconds.
    method: the name of the method that chooses moves; AUTO ("auto") for the network's default.
    temperature: the sampling temperature in percent, 0 for the best move; OWN_TEMPERATURE (−1) for the default.
    value: the name of a second network, whose win probabilities replace those of the first network; "" for none.
    show_wdl: whether the engine reports win, draw and loss probabilities.
    ponder: whether the GUI lets the engine think on the opponent's time.
    syzygy: folders of endgame tablebases; "" for none.
    book: the file of an opening book; "" for none.
    book_depth: the number of plies, from the start of a game, in which the book is used.
    seed: the random seed for sampling moves; 0 for a random one.
    rated: whether the network has rating inputs.
    limit_strength: whether the engine imitates a player with the rating `elo`. If false, it plays at full strength.
    elo: the rating of the imitated player.
    person: whether the network was trained to imitate one person.
    think_times, resign: whether the engine imitates the thinking times and the resignations of human players. If
        `person` is true, both are those of the person. Otherwise, both are those of players with the rating `elo`, or
        of the strongest players if `limit_strength` is false.
    methods: the names of the available methods for choosing moves, in addition to AUTO.
    """

    hash: int = 64
    threads: int = field(default_factory=cores)
    multipv: int = 1
    overhead: int = 30
    method: str = AUTO
    temperature: int = 0
    value: str = ""
    show_wdl: bool = False
    ponder: bool = False
    syzygy: str = ""
    book: str = ""
    book_depth: int = 30
    seed: int = 0
    rated: bool = False
    limit_strength: bool = False
    elo: int = 1500
    person: bool = False
    think_times: bool = False
    resign: bool = False
    methods: tuple[str, ...] = METHODS


@dataclass(frozen=True)
class _Known:
    """An option in the form for a GUI.

    name: the option's name in the GUI.
    field: the field of Options with its value.
    spin: the limits of a number; such an option has UCI's type spin.
    check: whether the option is true or false; UCI's type is check. Any other option has the type combo if it has
        choices, or else the type string.
    """

    name: str
    field: str
    spin: tuple[int, int] | None = None
    check: bool = False
    rated: bool = False  # only for networks with rating inputs
    person: bool = False  # only for personal networks; options without both flags are for all networks

    def offered(self, options: Options) -> bool:
        """Return whether the engine offers this option to the GUI. options: the present values of all options."""
        if not (self.rated or self.person):
            return True
        return (options.rated and self.rated) or (options.person and self.person)

    def declaration(self, options: Options) -> str:
        now = getattr(options, self.field)
        start = f"option name {self.name} type"
        if self.spin:
            low, high = self._ends(options)
            return f"{start} spin default {now} min {low} max {high}"
        if choices := self._choices(options):
            return " ".join([f"{start} combo default {now}", *(f"var {choice}" for choice in choices)])
        if self.check:
            return f"{start} check default {'true' if now else 'false'}"
        return f"{start} string default {now or EMPTY}"

    def _choices(self, options: Options) -> tuple[str, ...]:
        """The choices of a combo; () for other kinds of options."""
        return (AUTO, *options.methods) if self.field == "method" else ()

    def _ends(self, options: Options) -> tuple[int, int]:
        """Return the limits of a number. The default temperature is a possible value only for a player with ratings."""
        assert self.spin
        low, high = self.spin
        return (low if options.rated else max(0, low)), high

    def read(self, text: str, options: Options) -> Any:
        """Parse a value of this option. Raises ValueError with the possible values."""
        if self.spin:
            low, high = self._ends(options)
            if (number := whole_number(text)) is None or not low <= number <= high:
                raise ValueError(f"a whole number from {low} to {high}")
            return number
        if choices := self._choices(options):
            if text.lower() not in choices:
                raise ValueError(f"one of {', '.join(choices)}")
            return text.lower()
        if self.check:
            if text.lower() not in ("true", "false"):
                raise ValueError("true or false")
            return text.lower() == "true"
        return "" if text.lower() == EMPTY else text


_KNOWN = (
    _Known("Hash", "hash", spin=(1, 16384)),
    _Known("Threads", "threads", spin=(1, 512)),
    _Known("MultiPV", "multipv", spin=(1, 218)),  # the largest number of legal moves in a position
    _Known("Move Overhead", "overhead", spin=(0, 10000)),
    _Known("Method", "method"),
    _Known("Temperature", "temperature", spin=(OWN_TEMPERATURE, 200)),
    _Known("Value", "value"),
    _Known("UCI_ShowWDL", "show_wdl", check=True),
    _Known("Ponder", "ponder", check=True),
    _Known("SyzygyPath", "syzygy"),
    _Known("BookFile", "book"),
    _Known("BookDepth", "book_depth", spin=(0, 1000)),
    _Known("Seed", "seed", spin=(0, 2**31 - 1)),
    _Known("UCI_LimitStrength", "limit_strength", check=True, rated=True),
    _Known("UCI_Elo", "elo", spin=ELO, rated=True),
    _Known("ThinkTimes", "think_times", check=True, rated=True, person=True),
    _Known("Resign", "resign", check=True, rated=True, person=True),
)
_BY_NAME = {known.name.lower().replace(" ", "_"): known for known in _KNOWN}


OF_ENGINE = ("overhead", "show_wdl", "ponder", "syzygy", "book", "book_depth")
"""The fields of `Options` that don't affect how moves are chosen. If only these fields change, the engine does not make
a new player (the object that chooses moves).
"""


def of_player(options: Options) -> Options:
    """Return a copy of the options in which the fields that don't affect the choice of moves have their default values.
    OF_ENGINE lists these fields, such as "overhead".

    If the copies for two sets of options are equal, the same player (the object that chooses moves) serves both.
    """
    return replace(options, **{name: getattr(Options, name) for name in OF_ENGINE})


def of_engine(options: Options) -> dict[str, Any]:
    """Return the options that don't affect the choice of moves, as a dict from name to value. OF_ENGINE lists the
    names, such as "overhead".
    """
    return {name: getattr(options, name) for name in OF_ENGINE}


def declared(options: Options) -> list[str]:
    """Return the lines `option name …` that declare the options to a GUI. The default value in each line is the present
    value.
    """
    known = [one.declaration(options) for one in _KNOWN if one.offered(options)]
    return [*known, "option name Clear Hash type button"]


def split_setoption(line: str) -> tuple[str, str]:
    """Parse a line `setoption name NAME [value VALUE]`. Returns the name and the value; a missing name or value is "".

    The name is returned in lower case, because UCI ignores case in names. Each space in the name is replaced by _,
    because some programs write Move_Overhead for Move Overhead.
    """
    words = line.lower().split()
    if words[1:2] != ["name"]:
        return "", ""
    end = words.index("value", 3) if "value" in words[3:] else len(words)
    # The value is taken from the unchanged line, because a path may have capital letters and several spaces.
    rest = line.split(maxsplit=end + 1)[end + 1 :]
    return "_".join(words[2:end]), rest[0].strip() if rest else ""


def changed(options: Options, name: str, value: str) -> Options:
    """Return the options with one changed value, after a `setoption` command.

    name: the option's name in lower case, as `split_setoption` returns it. value: the new value as text. Raises
    ValueError, with a message of one line, for an unknown name or an invalid value.
    """
    known = _BY_NAME.get(name)
    if known is None or not known.offered(options):
        names = ", ".join(one.name for one in _KNOWN if one.offered(options))
        raise ValueError(f"unknown option {shown(name) or 'without a name'}. The options are {names}.")
    try:
        setting: Any = {known.field: known.read(value, options)}
    except ValueError as possible:
        now = getattr(options, known.field)
        raise ValueError(f"{known.name} must be {possible} (got {shown(value)}). It stays {now}.") from None
    return replace(options, **setting)
