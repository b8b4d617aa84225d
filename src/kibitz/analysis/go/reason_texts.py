"""The sentences that explain why a Go move was bad, in each language. To translate them, edit only this file.

To add a language, copy a `GoLanguage` and translate its texts. The program replaces the words in braces, in any order:

- {at}: a point.
- {move} and {line}: a move, and a sequence of moves.
- {stones} and {points}: a number of stones or points, such as "7 stones".
- {whose}: the color of the stones, from the texts `whose`.
- {player} and {other}: the player of this color, and the other player.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GoLanguage:
    """The texts of reasons in one language.

    sentences: a dict from the code of a reason to the format of its sentence. A code that ends in "_one" is for a
        single stone.
    whose: the words for the owner of stones, by color, such as "Black's".
    player: the words for the players, by color, such as "Black".
    stones: the text for one stone, and the format of the text for several stones.
    points: the text for one point, and the format of the text for several points.
    """

    sentences: Mapping[str, str]
    whose: Mapping[str, str]
    player: Mapping[str, str]
    stones: tuple[str, str]
    points: tuple[str, str]


ENGLISH = GoLanguage(
    sentences={
        "self_atari": "Puts the {stones} at {at} in atari: {other} captures them with {move}.",
        "self_atari_one": "Puts the stone at {at} in atari: {other} captures it with {move}.",
        "allows_capture": "{other} can capture the {stones} at {at} with {move}.",
        "allows_capture_one": "{other} can capture the stone at {at} with {move}.",
        "misses_capture": "Misses the capture of the {stones} at {at} with {move}.",
        "misses_capture_one": "Misses the capture of the stone at {at} with {move}.",
        "allows_ladder": "{other} can capture the {stones} at {at} in a ladder that begins with {move}.",
        "allows_ladder_one": "{other} can capture the stone at {at} in a ladder that begins with {move}.",
        "runs_in_ladder": "Tries to escape from a ladder that works: {move} captures the {stones} at {at}.",
        "misses_ladder": "Misses a ladder that works: {move} captures the {stones} at {at}.",
        "misses_ladder_one": "Misses a ladder that works: {move} captures the stone at {at}.",
        "group_dies": "{whose} group at {at} ({stones}) dies: {line}.",
        "group_dies_one": "{whose} stone at {at} dies: {line}.",
        "group_lives": "Misses a chance to capture {whose} group at {at} ({stones}): {line}.",
        "group_lives_one": "Misses a chance to capture {whose} stone at {at}: {line}.",
        "loses_area": "By kibitz's search, {player} loses about {points} in the area around {at}.",
        "group_lost": "By kibitz's search, {whose} group at {at} ({stones}) dies.",
        "group_in_danger": "By kibitz's search, {whose} group at {at} ({stones}) is in danger.",
        "misses_kill": "By kibitz's search, {move} would kill {whose} group at {at} ({stones}).",
        "misses_attack": "By kibitz's search, {move} would put {whose} group at {at} ({stones}) in danger.",
        "passes": "This is a pass. By kibitz's search, {move} is worth about {points} more.",
        "elsewhere": "A bigger move is elsewhere. By kibitz's search, {move} is worth about {points} more.",
        "better_avoids": "{move} avoids this.",
        "better_is": "{move} is worth about {points} more.",
    },
    whose={"black": "Black's", "white": "White's"},
    player={"black": "Black", "white": "White"},
    stones=("1 stone", "{n} stones"),
    points=("1 point", "{n} points"),
)

GERMAN = GoLanguage(
    sentences={
        "self_atari": "Setzt die {stones} bei {at} ins Atari: {other} schlägt sie mit {move}.",
        "self_atari_one": "Setzt den Stein auf {at} ins Atari: {other} schlägt ihn mit {move}.",
        "allows_capture": "{other} kann die {stones} bei {at} mit {move} schlagen.",
        "allows_capture_one": "{other} kann den Stein auf {at} mit {move} schlagen.",
        "misses_capture": "Verpasst die Chance, die {stones} bei {at} mit {move} zu schlagen.",
        "misses_capture_one": "Verpasst die Chance, den Stein auf {at} mit {move} zu schlagen.",
        "allows_ladder": "{other} kann die {stones} bei {at} in einer Treppe fangen, die mit {move} beginnt.",
        "allows_ladder_one": "{other} kann den Stein auf {at} in einer Treppe fangen, die mit {move} beginnt.",
        "runs_in_ladder": "Will aus einer Treppe fliehen, die funktioniert: {move} fängt die {stones} bei {at}.",
        "misses_ladder": "Verpasst eine Treppe, die funktioniert: {move} fängt die {stones} bei {at}.",
        "misses_ladder_one": "Verpasst eine Treppe, die funktioniert: {move} fängt den Stein auf {at}.",
        "group_dies": "Die {whose} Gruppe bei {at} ({stones}) stirbt: {line}.",
        "group_dies_one": "Der {whose} Stein auf {at} stirbt: {line}.",
        "group_lives": "Verpasst die Chance, die {whose} Gruppe bei {at} ({stones}) zu fangen: {line}.",
        "group_lives_one": "Verpasst die Chance, den Stein auf {at} zu fangen: {line}.",
        "loses_area": "Laut der Suche von kibitz verliert {player} etwa {points} im Gebiet um {at}.",
        "group_lost": "Laut der Suche von kibitz stirbt die {whose} Gruppe bei {at} ({stones}).",
        "group_in_danger": "Laut der Suche von kibitz ist die {whose} Gruppe bei {at} ({stones}) in Gefahr.",
        "misses_kill": "Laut der Suche von kibitz würde {move} die {whose} Gruppe bei {at} ({stones}) töten.",
        "misses_attack": "Laut der Suche von kibitz würde {move} die {whose} Gruppe bei {at} ({stones}) in "
        "Gefahr bringen.",
        "passes": "Das ist ein Passzug. Laut der Suche von kibitz ist {move} etwa {points} mehr wert.",
        "elsewhere": "Ein größerer Zug ist anderswo. Laut der Suche von kibitz ist {move} etwa {points} mehr wert.",
        "better_avoids": "{move} vermeidet das.",
        "better_is": "{move} ist etwa {points} mehr wert.",
    },
    whose={"black": "schwarze", "white": "weiße"},
    player={"black": "Schwarz", "white": "Weiß"},
    stones=("1 Stein", "{n} Steine"),
    points=("1 Punkt", "{n} Punkte"),
)

FRENCH = GoLanguage(
    sentences={
        "self_atari": "Met en atari les {stones} en {at} : {other} les capture avec {move}.",
        "self_atari_one": "Met en atari la pierre en {at} : {other} la capture avec {move}.",
        "allows_capture": "{other} peut capturer les {stones} en {at} avec {move}.",
        "allows_capture_one": "{other} peut capturer la pierre en {at} avec {move}.",
        "misses_capture": "Manque la capture des {stones} en {at} avec {move}.",
        "misses_capture_one": "Manque la capture de la pierre en {at} avec {move}.",
        "allows_ladder": "{other} peut capturer les {stones} en {at} par un shicho qui commence par {move}.",
        "allows_ladder_one": "{other} peut capturer la pierre en {at} par un shicho qui commence par {move}.",
        "runs_in_ladder": "Essaie d’échapper à un shicho qui fonctionne : {move} capture les {stones} en {at}.",
        "misses_ladder": "Manque un shicho qui fonctionne : {move} capture les {stones} en {at}.",
        "misses_ladder_one": "Manque un shicho qui fonctionne : {move} capture la pierre en {at}.",
        "group_dies": "Le groupe {whose} en {at} ({stones}) meurt : {line}.",
        "group_dies_one": "La pierre en {at} meurt : {line}.",
        "group_lives": "Manque la capture du groupe {whose} en {at} ({stones}) : {line}.",
        "group_lives_one": "Manque la capture de la pierre en {at} : {line}.",
        "loses_area": "D’après la recherche de kibitz, {player} perd environ {points} dans la zone de {at}.",
        "group_lost": "D’après la recherche de kibitz, le groupe {whose} en {at} ({stones}) meurt.",
        "group_in_danger": "D’après la recherche de kibitz, le groupe {whose} en {at} ({stones}) est en danger.",
        "misses_kill": "D’après la recherche de kibitz, {move} tuerait le groupe {whose} en {at} ({stones}).",
        "misses_attack": "D’après la recherche de kibitz, {move} mettrait le groupe {whose} en {at} ({stones}) "
        "en danger.",
        "passes": "Ce coup est une passe. D’après la recherche de kibitz, {move} vaut environ {points} de plus.",
        "elsewhere": "Un coup plus grand est ailleurs. "
        "D’après la recherche de kibitz, {move} vaut environ {points} de plus.",
        "better_avoids": "{move} évite cela.",
        "better_is": "{move} vaut environ {points} de plus.",
    },
    whose={"black": "noir", "white": "blanc"},
    player={"black": "Noir", "white": "Blanc"},
    stones=("1 pierre", "{n} pierres"),
    points=("1 point", "{n} points"),
)

LANGUAGES: Mapping[str, GoLanguage] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH}
"""The texts in each language, by the language code."""
_OTHER = {"black": "white", "white": "black"}


def sentence(code: str, parameters: Mapping[str, Any], language: str = "en") -> str:
    """Return the sentence for a reason's code and parameters (see `reasons.Why`). language: a key of LANGUAGES. Raises
    KeyError for an unknown code or language.
    """
    words = LANGUAGES[language]
    values = {name: str(parameters[name]) for name in ("at", "move") if name in parameters}
    if "line" in parameters:
        values["line"] = " ".join(parameters["line"])
    if "colour" in parameters:
        colour = parameters["colour"]
        values |= {
            "whose": words.whose[colour], "player": words.player[colour], "other": words.player[_OTHER[colour]]
        }  # fmt: skip
    if "stones" in parameters:
        values["stones"] = _counted(parameters["stones"], words.stones)
        if parameters["stones"] == 1 and f"{code}_one" in words.sentences:
            code += "_one"
    if "points" in parameters:
        values["points"] = _counted(parameters["points"], words.points)
    return words.sentences[code].format(**values)


def _counted(number: int, forms: tuple[str, str]) -> str:
    return forms[0] if number == 1 else forms[1].format(n=number)
