"""The Go rules that kibitz supports. They have the names that KataGo's commands use."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from kibitz.games.go.handicap import bonus_of, bonus_points
from kibitz.text import shown


class UnknownRules(ValueError):
    """Raised for rules that kibitz doesn't support. The message is written for the program that requested the rules."""


CHOICES = {
    "ko": ("SIMPLE", "POSITIONAL", "SITUATIONAL"),
    "scoring": ("AREA", "TERRITORY"),
    "tax": ("NONE", "SEKI"),
    "whiteHandicapBonus": ("0", "N-1", "N"),
}
FLAGS = {"suicide": (True, False), "hasButton": (False,), "friendlyPassOk": (True, False)}
"""The values that each boolean field of rules may have. Rules with a button aren't supported."""

MAX_KOMI = 1000.0
"""The largest absolute value of komi, in points."""


@dataclass(frozen=True)
class Rules:
    """A set of Go rules. Its fields have the names and values of KataGo's command `kata-get-rules`.

    kibitz never repeats a position, under any rules. It accepts every move of the opponent that simple ko allows, so it
    doesn't enforce situational superko.
    """

    ko: str = "SIMPLE"
    scoring: str = "AREA"
    tax: str = "NONE"
    suicide: bool = False
    hasButton: bool = False
    whiteHandicapBonus: str = "N"
    friendlyPassOk: bool = True

    @property
    def territory(self) -> bool:
        """Whether territory is scored, as in Japanese rules; otherwise area."""
        return self.scoring == "TERRITORY"

    def bonus(self, handicap: int) -> int:
        """Return the points that White gets for `handicap` handicap stones, in addition to komi."""
        return bonus_points(self.whiteHandicapBonus, handicap)

    def json(self) -> str:
        """Return the rules as a JSON object, as KataGo's command `kata-get-rules` does."""
        return json.dumps(self.__dict__, separators=(",", ":"), sort_keys=True)


def _rules(name: str, **fields: Any) -> Rules:
    """Return a rule set with White's compensation from `games.go.handicap` for this name."""
    return Rules(whiteHandicapBonus=bonus_of(name), **fields)


_JAPANESE = _rules("japanese", scoring="TERRITORY", tax="SEKI")
_AGA = _rules("aga", ko="SITUATIONAL")
NAMED = {
    "chinese": _rules("chinese"),
    "chinese-ogs": _rules("chinese", ko="POSITIONAL"),
    "chinese-kgs": _rules("chinese", ko="POSITIONAL"),
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "new-zealand": _rules("new zealand", ko="SITUATIONAL", suicide=True),
    "ing": _rules("ing", suicide=True),
    "tromp-taylor": _rules("tromp-taylor", ko="POSITIONAL", suicide=True, friendlyPassOk=False),
}
"""The rules by name. The names are those that KataGo accepts, and "ing"."""


def named(text: str) -> Rules:
    """Return the rules with this name. The case does not matter, and a hyphen may be written as a space or an
    underscore. Raises UnknownRules for an unknown name.
    """
    name = "-".join(text.lower().replace("_", " ").split())
    if name not in NAMED:
        raise UnknownRules(f"unknown rules {shown(text)}. Known rules: {', '.join(NAMED)}.")
    return NAMED[name]


def named_rules(rules: Rules) -> str:
    """Return the name of the given rules, such as "japanese" (the first fitting name in NAMED). If no name has these
    rules, return "chinese" for area scoring, and "japanese" for territory scoring.
    """
    fallback = "japanese" if rules.territory else "chinese"
    return next((name for name, known in NAMED.items() if known == rules), fallback)


def read_rules(text: str, now: Rules) -> Rules:
    """Return the rules that a text means. The text is a name, or a JSON object whose fields replace those of `now`, the
    current rules. Raises UnknownRules for an unknown name, field or value.
    """
    if not text.lstrip().startswith("{"):
        return named(text)
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError):
        raise UnknownRules("syntax error: the rules are not a JSON object") from None
    for field, value in wanted.items():
        now = with_field(now, field, value)
    return now


def with_field(rules: Rules, field: str, value: object) -> Rules:
    """Return the rules with one field changed. The texts "true" and "false" count as booleans. Raises UnknownRules for
    an unknown field or value.
    """
    if field in FLAGS:
        truth = {"true": True, "false": False}.get(str(value).lower())
        if truth is None or truth not in FLAGS[field]:
            raise UnknownRules(f"unknown value in the rules: {shown(f'{field} {value}')}")
        changed: Any = {field: truth}
        return replace(rules, **changed)
    if field in CHOICES:
        name = str(value).upper()
        if name not in CHOICES[field]:
            raise UnknownRules(f"unknown value in the rules: {shown(f'{field} {value}')}")
        changed = {field: name}
        return replace(rules, **changed)
    raise UnknownRules(f"unknown field in the rules: {shown(field)}")
