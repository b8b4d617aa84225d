"""The sentences that explain why a chess move was bad, in each language. To translate them, edit only this file.

To add a language, copy a `Language` and translate its texts. The program replaces the words in braces, in any order:

- {line}, {move} and {arrival}: moves.
- {lost}, {won} and {targets}: pieces, such as "a knight for a pawn".
- {piece}: a piece with its article.
- {square}: a square.
- {mate_in}, {points}, {rating} and {percent}: numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")


@dataclass(frozen=True)
class Language:
    """The texts of reasons in one language. The program replaces the words in braces.

    sentences: a dict from the code of a reason to the format of its sentence.
    a: the names of pieces with an indefinite article, as grammatical objects, such as "a knight" in "wins a knight".
    the: the names of pieces with a definite article, as grammatical objects, such as "the knight" in "traps the
        knight".
    subject: the names of pieces as grammatical subjects, such as "the knight" in "the knight is pinned".
    many: the formats for two or more pieces of one kind, such as "{n} knights". {n} is their number.
    every: two formats for the pieces of one kind that a fork attacks. The first format is for two pieces, such as "both
        rooks". The second format is for three or more pieces, such as "three pawns". {pieces} is the plural of the
        piece's name, and {n} is the number of pieces.
    numbers: words for small numbers.
    both: the format that joins two words, such as "{one} and {other}".
    exchanged: the format for an exchange of pieces, such as "{lost} for {gained}".
    percent: the format of a percentage, such as "{n}%".
    """

    sentences: Mapping[str, str]
    a: Mapping[str, str]
    the: Mapping[str, str]
    subject: Mapping[str, str]
    many: Mapping[str, str]
    every: tuple[str, str]
    numbers: Mapping[int, str]
    both: str
    exchanged: str
    percent: str


ENGLISH = Language(
    sentences={
        "allows_mate": "Allows mate in {mate_in}: {line}.",
        "allows_back_rank_mate": "Allows a back-rank mate in {mate_in}: {line}.",
        "misses_mate": "Misses mate in {mate_in}: {line}.",
        "gives_stalemate": "Gives stalemate: the opponent has no legal move.",
        "allows_stalemate": "Allows stalemate: {line}.",
        "allows_promotion": "Allows a pawn to promote: {line}.",
        "misses_promotion": "Misses a promotion: {line}.",
        "loses": "Loses {lost}: {line}.",
        "loses_at": "Loses {piece} on {square} to {line}.",
        "loses_material": "Loses material worth {points} pawns: {line}.",
        "misses": "Misses a chance to win {won}: {line}.",
        "misses_material": "Misses a chance to win material worth {points} pawns: {line}.",
        "overlooks_fork": "Overlooks the fork {line}, which attacks {targets} and wins {lost}.",
        "overlooks_pin": "Overlooks the pin {line}, which wins {lost}.",
        "overlooks_pinned_piece": "Overlooks that {piece} on {square} is pinned: {line} wins {lost}.",
        "overlooks_pinned_piece_later": (
            "Overlooks that {piece} is pinned on {square} after {arrival}: {line} wins {lost}."
        ),
        "overlooks_skewer": "Overlooks the skewer {line}, which wins {lost}.",
        "overlooks_discovered_attack": "Overlooks the discovered attack {line}, which wins {lost}.",
        "overlooks_trapped_piece": "Overlooks that {line} traps {the_piece} on {square}. This wins {lost}.",
        "overlooks_trapped_piece_later": (
            "Overlooks that {line} traps {the_piece} on {square} after {arrival}. This wins {lost}."
        ),
        "overlooks_pinned_defender": (
            "Overlooks that {piece} on {square} is pinned and cannot take back: {line} wins {lost}."
        ),
        "overlooks_pinned_defender_later": (
            "Overlooks that {piece} is pinned on {square} after {arrival} and cannot take back: {line} wins {lost}."
        ),
        "misses_fork": "Misses the fork {line}, which attacks {targets} and wins {won}.",
        "misses_pin": "Misses the pin {line}, which wins {won}.",
        "misses_pinned_piece": "Misses that {piece} on {square} is pinned: {line} wins {won}.",
        "misses_pinned_piece_later": "Misses that {piece} is pinned on {square} after {arrival}: {line} wins {won}.",
        "misses_skewer": "Misses the skewer {line}, which wins {won}.",
        "misses_discovered_attack": "Misses the discovered attack {line}, which wins {won}.",
        "misses_trapped_piece": "Misses that {line} traps {the_piece} on {square}. This wins {won}.",
        "misses_trapped_piece_later": (
            "Misses that {line} traps {the_piece} on {square} after {arrival}. This wins {won}."
        ),
        "misses_pinned_defender": "Misses that {piece} on {square} is pinned and cannot take back: {line} wins {won}.",
        "misses_pinned_defender_later": (
            "Misses that {piece} is pinned on {square} after {arrival} and cannot take back: {line} wins {won}."
        ),
        "better_wins": "{move} wins {won}.",
        "better_saves": "{move} avoids the loss.",
        "better_avoids_mate": "{move} avoids this mate.",
        "better_delays_mate": "{move} holds out longer.",
        "found": "{percent} of players rated {rating} play {move}.",
    },
    a={
        **{piece: f"a {piece}" for piece in PIECES},
        "queen": "the queen", "king": "the king", "exchange": "the exchange",
    },
    the={piece: f"the {piece}" for piece in PIECES},
    subject={piece: f"the {piece}" for piece in PIECES},
    many={piece: f"{{n}} {piece}s" for piece in PIECES},
    every=("both {pieces}", "{n} {pieces}"),
    numbers={2: "two", 3: "three", 4: "four", 5: "five"},
    both="{one} and {other}",
    exchanged="{lost} for {gained}",
    percent="{n}%",
)  # fmt: skip

GERMAN = Language(
    sentences={
        "allows_mate": "Erlaubt Matt in {mate_in}: {line}.",
        "allows_back_rank_mate": "Erlaubt ein Grundreihenmatt in {mate_in}: {line}.",
        "misses_mate": "Verpasst Matt in {mate_in}: {line}.",
        "gives_stalemate": "Setzt patt: Der Gegner hat keinen legalen Zug.",
        "allows_stalemate": "Erlaubt Patt: {line}.",
        "allows_promotion": "Erlaubt eine Umwandlung: {line}.",
        "misses_promotion": "Verpasst eine Umwandlung: {line}.",
        "loses": "Verliert {lost}: {line}.",
        "loses_at": "Verliert {the_piece} auf {square} durch {line}.",
        "loses_material": "Verliert Material im Wert von {points} Bauern: {line}.",
        "misses": "Verpasst die Chance, {won} zu gewinnen: {line}.",
        "misses_material": "Verpasst die Chance, Material im Wert von {points} Bauern zu gewinnen: {line}.",
        "overlooks_fork": "Übersieht die Gabel {line}: Sie greift {targets} an und gewinnt {lost}.",
        "overlooks_pin": "Übersieht die Fesselung {line}: Sie gewinnt {lost}.",
        "overlooks_pinned_piece": "Übersieht, dass {piece} auf {square} gefesselt ist: {line} gewinnt {lost}.",
        "overlooks_pinned_piece_later": (
            "Übersieht, dass {piece} nach {arrival} auf {square} gefesselt ist: {line} gewinnt {lost}."
        ),
        "overlooks_skewer": "Übersieht den Spieß {line}: Er gewinnt {lost}.",
        "overlooks_discovered_attack": "Übersieht den Abzugsangriff {line}: Er gewinnt {lost}.",
        "overlooks_trapped_piece": "Übersieht, dass {line} {the_piece} auf {square} fängt. Das gewinnt {lost}.",
        "overlooks_trapped_piece_later": (
            "Übersieht, dass {line} {the_piece} nach {arrival} auf {square} fängt. Das gewinnt {lost}."
        ),
        "overlooks_pinned_defender": (
            "Übersieht, dass {piece} auf {square} gefesselt ist und nicht zurückschlagen kann: {line} gewinnt {lost}."
        ),
        "overlooks_pinned_defender_later": (
            "Übersieht, dass {piece} nach {arrival} auf {square} gefesselt ist und nicht zurückschlagen kann: "
            "{line} gewinnt {lost}."
        ),
        "misses_fork": "Verpasst die Gabel {line}: Sie greift {targets} an und gewinnt {won}.",
        "misses_pin": "Verpasst die Fesselung {line}: Sie gewinnt {won}.",
        "misses_pinned_piece": "Übersieht, dass {piece} auf {square} gefesselt ist: {line} gewinnt {won}.",
        "misses_pinned_piece_later": (
            "Übersieht, dass {piece} nach {arrival} auf {square} gefesselt ist: {line} gewinnt {won}."
        ),
        "misses_skewer": "Verpasst den Spieß {line}: Er gewinnt {won}.",
        "misses_discovered_attack": "Verpasst den Abzugsangriff {line}: Er gewinnt {won}.",
        "misses_trapped_piece": "Verpasst, dass {line} {the_piece} auf {square} fängt. Das gewinnt {won}.",
        "misses_trapped_piece_later": (
            "Verpasst, dass {line} {the_piece} nach {arrival} auf {square} fängt. Das gewinnt {won}."
        ),
        "misses_pinned_defender": (
            "Übersieht, dass {piece} auf {square} gefesselt ist und nicht zurückschlagen kann: {line} gewinnt {won}."
        ),
        "misses_pinned_defender_later": (
            "Übersieht, dass {piece} nach {arrival} auf {square} gefesselt ist und nicht zurückschlagen kann: "
            "{line} gewinnt {won}."
        ),
        "better_wins": "{move} gewinnt {won}.",
        "better_saves": "{move} vermeidet den Verlust.",
        "better_avoids_mate": "{move} vermeidet dieses Matt.",
        "better_delays_mate": "{move} hält länger stand.",
        "found": "{percent} der Spieler mit Wertung {rating} ziehen {move}.",
    },
    a={
        "pawn": "einen Bauern", "knight": "einen Springer", "bishop": "einen Läufer", "rook": "einen Turm",
        "queen": "die Dame", "king": "den König", "exchange": "die Qualität",
    },
    the={
        "pawn": "den Bauern", "knight": "den Springer", "bishop": "den Läufer", "rook": "den Turm",
        "queen": "die Dame", "king": "den König",
    },
    subject={
        "pawn": "der Bauer", "knight": "der Springer", "bishop": "der Läufer", "rook": "der Turm",
        "queen": "die Dame", "king": "der König",
    },
    many={
        "pawn": "{n} Bauern", "knight": "{n} Springer", "bishop": "{n} Läufer", "rook": "{n} Türme",
        "queen": "{n} Damen",
    },
    every=("beide {pieces}", "{n} {pieces}"),
    numbers={2: "zwei", 3: "drei", 4: "vier", 5: "fünf"},
    both="{one} und {other}",
    exchanged="{lost} für {gained}",
    percent="{n} %",
)  # fmt: skip

FRENCH = Language(
    sentences={
        "allows_mate": "Permet un mat en {mate_in} : {line}.",
        "allows_back_rank_mate": "Permet un mat du couloir en {mate_in} : {line}.",
        "misses_mate": "Manque un mat en {mate_in} : {line}.",
        "gives_stalemate": "Fait pat : l’adversaire n’a pas de coup légal.",
        "allows_stalemate": "Permet le pat : {line}.",
        "allows_promotion": "Permet une promotion : {line}.",
        "misses_promotion": "Manque une promotion : {line}.",
        "loses": "Perd {lost} : {line}.",
        "loses_at": "Perd {the_piece} en {square} après {line}.",
        "loses_material": "Perd du matériel d’une valeur de {points} pions : {line}.",
        "misses": "Manque l’occasion de gagner {won} : {line}.",
        "misses_material": "Manque l’occasion de gagner du matériel d’une valeur de {points} pions : {line}.",
        "overlooks_fork": "Ne voit pas la fourchette {line}, qui attaque {targets} et gagne {lost}.",
        "overlooks_pin": "Ne voit pas le clouage {line}, qui gagne {lost}.",
        "overlooks_pinned_piece": "Ne voit pas le clouage contre {piece} en {square} : {line} gagne {lost}.",
        "overlooks_pinned_piece_later": (
            "Ne voit pas le clouage contre {piece} en {square} après {arrival} : {line} gagne {lost}."
        ),
        "overlooks_skewer": "Ne voit pas l’enfilade {line}, qui gagne {lost}.",
        "overlooks_discovered_attack": "Ne voit pas l’attaque à la découverte {line}, qui gagne {lost}.",
        "overlooks_trapped_piece": "Ne voit pas que {line} enferme {the_piece} en {square}. Cela gagne {lost}.",
        "overlooks_trapped_piece_later": (
            "Ne voit pas que {line} enferme {the_piece} en {square} après {arrival}. Cela gagne {lost}."
        ),
        "overlooks_pinned_defender": (
            "Ne voit pas que {piece} en {square} subit un clouage et ne peut pas reprendre : {line} gagne {lost}."
        ),
        "overlooks_pinned_defender_later": (
            "Ne voit pas que {piece} subit un clouage en {square} après {arrival} et ne peut pas reprendre : "
            "{line} gagne {lost}."
        ),
        "misses_fork": "Manque la fourchette {line}, qui attaque {targets} et gagne {won}.",
        "misses_pin": "Manque le clouage {line}, qui gagne {won}.",
        "misses_pinned_piece": "Ne profite pas du clouage contre {piece} en {square} : {line} gagne {won}.",
        "misses_pinned_piece_later": (
            "Ne profite pas du clouage contre {piece} en {square} après {arrival} : {line} gagne {won}."
        ),
        "misses_skewer": "Manque l’enfilade {line}, qui gagne {won}.",
        "misses_discovered_attack": "Manque l’attaque à la découverte {line}, qui gagne {won}.",
        "misses_trapped_piece": "Ne voit pas que {line} enferme {the_piece} en {square}. Cela gagne {won}.",
        "misses_trapped_piece_later": (
            "Ne voit pas que {line} enferme {the_piece} en {square} après {arrival}. Cela gagne {won}."
        ),
        "misses_pinned_defender": (
            "Ne voit pas que {piece} en {square} subit un clouage et ne peut pas reprendre : {line} gagne {won}."
        ),
        "misses_pinned_defender_later": (
            "Ne voit pas que {piece} subit un clouage en {square} après {arrival} et ne peut pas reprendre : "
            "{line} gagne {won}."
        ),
        "better_wins": "{move} gagne {won}.",
        "better_saves": "{move} évite la perte.",
        "better_avoids_mate": "{move} évite ce mat.",
        "better_delays_mate": "{move} résiste plus longtemps.",
        "found": "{percent} des joueurs classés {rating} jouent {move}.",
    },
    a={
        "pawn": "un pion", "knight": "un cavalier", "bishop": "un fou", "rook": "une tour",
        "queen": "la dame", "king": "le roi", "exchange": "la qualité",
    },
    the={
        "pawn": "le pion", "knight": "le cavalier", "bishop": "le fou", "rook": "la tour",
        "queen": "la dame", "king": "le roi",
    },
    subject={
        "pawn": "le pion", "knight": "le cavalier", "bishop": "le fou", "rook": "la tour",
        "queen": "la dame", "king": "le roi",
    },
    many={
        "pawn": "{n} pions", "knight": "{n} cavaliers", "bishop": "{n} fous", "rook": "{n} tours",
        "queen": "{n} dames",
    },
    every=("les deux {pieces}", "{n} {pieces}"),
    numbers={2: "deux", 3: "trois", 4: "quatre", 5: "cinq"},
    both="{one} et {other}",
    exchanged="{lost} contre {gained}",
    percent="{n} %",
)  # fmt: skip

LANGUAGES: Mapping[str, Language] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH}
"""The texts in each language, by the language code."""


def sentence(code: str, parameters: Mapping[str, Any], language: str = "en") -> str:
    """Return the sentence for a reason's code and parameters (see `reasons.Reason`). language: a key of LANGUAGES.
    Raises KeyError for an unknown code or language.
    """
    words = LANGUAGES[language]
    if code == "loses" and "square" in parameters:
        code = "loses_at"
    if "arrival" in parameters:
        code += "_later"
    values = {name: value for name, value in parameters.items() if isinstance(value, str | int)}
    if "line" in parameters:
        values["line"] = " ".join(parameters["line"])
    piece = str(parameters.get("piece") or next(iter(parameters.get("lost", ())), ""))
    if piece in words.the:
        values["the_piece"], values["piece"] = words.the[piece], words.subject[piece]
    for name in ("lost", "won"):
        if name in parameters:
            gained = parameters.get("gained")
            values[name] = _pieces(parameters[name], words)
            if gained:
                values[name] = words.exchanged.format(lost=values[name], gained=_pieces(gained, words))
    if "targets" in parameters:
        values["targets"] = _targets(parameters["targets"], words)
    if "probability" in parameters:
        values["percent"] = words.percent.format(n=round(100 * parameters["probability"]) or "<1")
    return words.sentences[code].format(**values)


def _pieces(names: Sequence[str], words: Language) -> str:
    """Format pieces as an object: "a knight", "two pawns", "a rook and a pawn"."""
    parts = []
    for name in dict.fromkeys(names):
        count = names.count(name)
        parts.append(words.a[name] if count == 1 else words.many[name].format(n=words.numbers.get(count, str(count))))
    return _joined(parts, words)


def _targets(names: Sequence[str], words: Language) -> str:
    """Format attacked pieces as an object: "the king and the rook", "both rooks and the queen"."""
    parts = []
    for name in dict.fromkeys(names):
        count = names.count(name)
        if count == 1:
            parts.append(words.the[name])
            continue
        plural = words.many[name].removeprefix("{n} ")
        parts.append(words.every[count > 2].format(pieces=plural, n=words.numbers.get(count, str(count))))
    return _joined(parts, words)


def _joined(parts: Sequence[str], words: Language) -> str:
    """Join words to a list: "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return words.both.format(one=", ".join(parts[:-1]), other=parts[-1])
