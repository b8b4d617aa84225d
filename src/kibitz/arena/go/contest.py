"""The class `GoContest`: the parts of a match that are specific to Go, such as engines and single games."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kibitz.arena.contest import MoveCost, PlayedGame
from kibitz.arena.go.engine import GoEngine
from kibitz.arena.go.game import GoRules, Side, play
from kibitz.arena.go.limits import GoTime
from kibitz.arena.go.openings import openings
from kibitz.arena.go.record import SGF, counted, text_of
from kibitz.arena.openings import opening_of
from kibitz.arena.players import Participant
from kibitz.arena.record import side_of
from kibitz.games.go.points import BLACK, WHITE


@dataclass(frozen=True)
class GoContest:
    """Go as the game of a match. The class starts the engines and plays the games.

    times: a dict from the players "A" and "B" to their time limits.
    seed: the random seed of the match.
    hang: the seconds after which an engine counts as hung, if it has no time limit.
    rules: the board size, the komi and the largest number of moves.
    """

    times: Mapping[str, GoTime]
    seed: int = 0
    hang: float = 60.0
    rules: GoRules = field(default_factory=GoRules)
    name = "go"
    colours = ("black", "white")
    form = SGF

    def limit(self, side: str) -> str:
        return str(self.times[side])

    def settings(self) -> dict[str, str]:
        rules = self.rules
        return {
            "Openings": str(len(openings(rules.size))),
            "Rules": f"size {rules.size}, komi {rules.komi:g}, moves {rules.moves}, hang {self.hang:g} s",
        }

    def engine(self, participant: Participant) -> GoEngine:
        return GoEngine(participant, self.hang, self.rules.size)

    def play(
        self, number: int, engines: Mapping[str, GoEngine], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        opening = opening_of(number, self.seed, len(openings(self.rules.size)))
        sides = {BLACK: side_of(number, True), WHITE: side_of(number, False)}
        chance = random.Random(f"{self.seed}/{number}")
        black, white = (Side(engines[side], self.times[side], chance.randrange(2**31)) for side in sides.values())
        played = play(black, white, openings(self.rules.size)[opening], self.rules)
        return PlayedGame(
            counted(number, played),
            text_of(number, played, names, opening, settings),
            {side: [MoveCost(answer.seconds) for answer in played.answers[colour]] for colour, side in sides.items()},
        )

    def facts(self) -> dict[str, Any]:
        return {"size": self.rules.size, "komi": self.rules.komi}
