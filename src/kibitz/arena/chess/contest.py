"""The class `ChessContest`: the parts of a match that are specific to chess, such as engines and single games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kibitz.arena.chess.engine import ChessEngine
from kibitz.arena.chess.game import Adjudication, Side, play
from kibitz.arena.chess.limits import ChessLimits
from kibitz.arena.chess.openings import openings
from kibitz.arena.chess.record import PGN, counted, text_of
from kibitz.arena.contest import MoveCost, PlayedGame
from kibitz.arena.openings import opening_of
from kibitz.arena.players import Participant
from kibitz.arena.record import side_of


@dataclass(frozen=True)
class ChessContest:
    """Chess as the game of a match. The class starts the engines and plays the games.

    limits: a dict from the players "A" and "B" to their search limits.
    seed: the random seed of the match.
    hang: the seconds after which an engine counts as hung, if its limits contain no time.
    rules: the rules by which a game ends early.
    """

    limits: Mapping[str, ChessLimits]
    seed: int = 0
    hang: float = 60.0
    rules: Adjudication = field(default_factory=Adjudication)
    name = "chess"
    colours = ("white", "black")
    form = PGN

    def limit(self, side: str) -> str:
        return str(self.limits[side])

    def settings(self) -> dict[str, str]:
        """Return the settings of the match as a dict from names to texts. A match can be resumed only with the same
        settings.
        """
        rules = ", ".join(f"{each.name} {getattr(self.rules, each.name)}" for each in fields(self.rules))
        return {"Openings": str(len(openings())), "Rules": f"{rules}, hang {self.hang:g} s"}

    def engine(self, participant: Participant) -> ChessEngine:
        return ChessEngine(participant, self.hang)

    def play(
        self, number: int, engines: Mapping[str, ChessEngine], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        opening = opening_of(number, self.seed, len(openings()))
        white, black = (
            Side(engines[side], self.limits[side]) for side in (side_of(number, True), side_of(number, False))
        )
        played = play(white, black, openings()[opening], seed=self.seed, number=number, rules=self.rules)
        spent: dict[str, list[MoveCost]] = {"A": [], "B": []}
        for ply, answer in enumerate(played.answers, played.opening):
            spent[side_of(number, ply % 2 == 0)].append(MoveCost(answer.seconds, answer.nodes))
        return PlayedGame(counted(number, played), text_of(number, played, names, opening, settings), spent)

    def facts(self) -> dict[str, Any]:
        return {}
