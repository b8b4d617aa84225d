"""Explain why a move of Go was bad.

Two searches show which points change their owner: the search after the played move, and the search after the better
move. If chains of stones change their owner, the rules of Go may prove how the chains are captured. The capture is
immediate, or follows in a ladder that is read to its end, or follows by the moves of the search's line.

If the rules of Go prove no reason, the searches alone give the reason, and the sentence names the search as the source:

- For a mistake, it may be a group of stones that dies, lives or is in danger by the two searches.
- On 19×19, it may be the connected area where the two searches differ most, if they differ by at least 18 points there.
  If they differ less, the positions at the ends of both lines are searched, too. The reason may then be the area where
  these positions differ most, if they differ by at least 20 points there.
- For a mistake, it may be a smaller area that has at least half of the lost points, on all board sizes.
- For a mistake, it may be a better move that is far from the played move.

The sentences are in reason_texts.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.go.changes import SIDES, middle, neighbours, regions
from kibitz.analysis.go.reason_texts import sentence
from kibitz.games.go.ladders import chain, ladder, open_cells
from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, PASS, to_gtp
from kibitz.games.go.rules import CELL, POINT, Board
from kibitz.play.go.ownership import SWINGS, chains

SELF_ATARI, ALLOWS_CAPTURE, MISSES_CAPTURE = "self_atari", "allows_capture", "misses_capture"
ALLOWS_LADDER, RUNS_IN_LADDER, MISSES_LADDER = "allows_ladder", "runs_in_ladder", "misses_ladder"
GROUP_DIES, GROUP_LIVES = "group_dies", "group_lives"
LOSES_AREA = "loses_area"
GROUP_LOST, GROUP_IN_DANGER = "group_lost", "group_in_danger"
MISSES_KILL, MISSES_ATTACK = "misses_kill", "misses_attack"
PASSES, ELSEWHERE = "passes", "elsewhere"
WITHOUT_PLACE = (PASSES, ELSEWHERE)
"""The codes of the reasons that only compare the better move with the played move."""
BY_SEARCH = (GROUP_LOST, GROUP_IN_DANGER, MISSES_KILL, MISSES_ATTACK, LOSES_AREA, *WITHOUT_PLACE)
"""The codes of the reasons that no sequence of moves proves. Their sentences name the search as the source."""
CODES = (
    SELF_ATARI, ALLOWS_CAPTURE, ALLOWS_LADDER, RUNS_IN_LADDER, MISSES_CAPTURE, MISSES_LADDER, GROUP_DIES, GROUP_LIVES,
    *BY_SEARCH,
)  # fmt: skip
"""The codes of all reasons."""
BETTER_AVOIDS = "better_avoids"
INSTEAD = ("misses_", "better_", GROUP_LIVES, *WITHOUT_PLACE)
"""Beginnings of codes of reasons. If a reason's code begins with one of them, its parameter `line` (a sequence of
moves) begins with the better move. Otherwise, `line` follows the played move.
"""

ALIVE, DEAD = 0.6, 0.4
"""Limits of a probability. Stones count as alive if they belong to their own color with a probability of at least
ALIVE. They count as dead if this probability is at most DEAD.
"""
SHARE = 1 / 3
"""The smallest share of the lost points, 0 to 1, that a group of stones and the area around it must have. Groups with a
smaller share do not explain why a move was bad.
"""
LEAST_SHARE = 0.5
"""The smallest loss that is explained, as a share of the smallest annotated loss. If the deeper searches find a smaller
loss, the move gets no reason.
"""
MOVED = 0.1
"""The smallest change of a point's ownership probability, 0 to 1, with which the point belongs to an area that changes
its owner.
"""
SLIGHTLY_MOVED = 0.05
"""The limit that replaces MOVED for an area that is itself the reason."""
LARGE_AREA = 18.0
"""The smallest loss in an area, in points, with which the area explains why a move was bad. The number is for 19×19. On
56 annotated moves of 20 games, GNU Go agreed with all 10 areas of this size, but only with 14 of 20 areas of 12 to 18
points.
"""
LEAST_SHOWN = 0.5
"""If the positions at the ends of the searches' lines are known, they must show at least this share of the loss in an
area of LARGE_AREA. In 27 games, this share was at least 0.89. In another game, GNU Go refuted an area with a share of
0.38.
"""
LARGE_AREA_OF_LINES = 20.0
"""The limit that corresponds to LARGE_AREA, in points, for the positions at the ends of the searches' lines. An area
with a smaller loss than LARGE_AREA explains a bad move if these positions differ there by at least this limit. On 77
annotated moves of 27 games, GNU Go agreed with all 19 areas of this size, but only with 7 of 10 areas of 14 to 20
points.
"""
LEAST_OF_LINES = 5.0
"""The smallest loss, in points, that the searches themselves must expect in an area of LARGE_AREA_OF_LINES."""
MOVED_OF_LINES = 0.15
"""The limit that replaces MOVED for the positions at the ends of the lines."""
FAR = 4
"""A distance in points. If the move was played at least this far from each point of an area, the area does not explain
why the move was bad. On 30 games that were not used to choose the limits, GNU Go agreed with only 6 of 11 such areas.
"""
LEAST_BY_SEARCH = 2.0
"""The smallest loss that a group, a small area or a move elsewhere explains, as a multiple of the smallest annotated
loss. Smaller losses were not searched with many visits (see `better.LONG_VISITS`).
"""
LEAST_STONES = 2
"""The smallest number of stones in a group that changes its owner by the searches alone."""
UNSURE, SURELY_DEAD = 0.5, 0.25
"""Limits of a probability. A group that lives after one move is in danger after the other move if it belongs to its own
color with a probability of at most UNSURE. It dies if this probability is at most SURELY_DEAD.
"""
WEAKENED = 0.3
"""The smallest difference of these two probabilities, 0 to 1."""
SHARE_OF_AREA = 0.5
"""The smallest share of the lost points that an area with less than LARGE_AREA must have."""
AREA_SIZE = 19
"""The board size on which an area can explain why a move was bad. On smaller boards, we have not checked these
reasons.
"""


@dataclass(frozen=True)
class Situation:
    """A move to explain, with the results of the searches after the played move and after the better move.

    board: the position before the move.
    played, best: the played move and the better move, as points (row · 19 + column) or 361 for a pass.
    better, after: the probability that each point belongs to Black, float64 [361], after the better move and after the
        played move.
    lost: how much the played move lowered the mover's lead, in points.
    lost_chance: how much the played move lowered the mover's win probability, 0 to 1.
    better_line, after_line: the moves that are expected after the better move and after the played move.
    better_end, after_end: the probability that each point belongs to Black, float64 [361], at the ends of `better_line`
        and of `after_line`; None if it is unknown.
    """

    board: Board
    played: int
    best: int
    better: NDArray[np.float64]
    after: NDArray[np.float64]
    lost: float
    better_line: Sequence[int] = ()
    after_line: Sequence[int] = ()
    better_end: NDArray[np.float64] | None = None
    after_end: NDArray[np.float64] | None = None
    lost_chance: float = 0.0


@dataclass(frozen=True)
class Why:
    """The reason why a move was bad, as a code and its parameters. The codes do not change from version to version.

    parameters: a dict. The code determines which of these keys it has. Points and moves are in GTP notation, such as
        "D4".

    - at: a point near the middle of a chain, a group or an area of the board.
    - colour: "black" or "white", the color of the stones or, for an area, the player who loses the area.
    - stones: the number of stones.
    - move: the move that captures the stones, or the better move. line: the moves that capture the stones.
    - points: the loss in whole points, in the area or of the move. area: the points of the area.
    - after_lines: by how many whole points the positions at the ends of the two lines differ in the area. The key is
      missing if the reason did not need these positions.

    better: what the better move does. It is None if the reason itself describes the better move, or if nothing more is
        known.
    """

    code: str
    parameters: dict[str, Any] = field(default_factory=dict)
    better: Why | None = None

    def text(self, language: str = "en") -> str:
        """Return the reason as sentences. language: a key of `reason_texts.LANGUAGES`, such as "en"."""
        text = sentence(self.code, self.parameters, language)
        return f"{text} {self.better.text(language)}" if self.better else text

    def why_bad(self, language: str = "en") -> str:
        """Return only the sentence about why the played move was bad, without the sentence about the better move.
        language: a key of `reason_texts.LANGUAGES`, such as "en".
        """
        return sentence(self.code, self.parameters, language)

    def as_json(self) -> dict[str, Any]:
        """Return the reason as a dict for JSON: its code, its parameters, its text in English, and what the better move
        does.
        """
        better = {"better": {"code": self.better.code, "parameters": self.better.parameters}} if self.better else {}
        return {"code": self.code, "parameters": self.parameters, **better, "text": self.text()}


def explain(situation: Situation) -> Why | None:
    """Return the reason why the played move was bad; None if there is no reason. Either the searched lines prove the
    reason, such as a captured group, or the searches show a group, an area or a move elsewhere that accounts for the
    lost points.
    """
    if situation.lost < LEAST_SHARE * SWINGS[situation.board.size]:
        return None
    proofs = _Proofs(situation)
    for look in (
        proofs.own_captures, proofs.running, proofs.missed_captures, proofs.own_group, proofs.missed_group,
        proofs.turned_group, proofs.lost_area, proofs.area_of_lines, proofs.smaller_area, proofs.elsewhere,
    ):  # fmt: skip
        found = look()
        if found is not None:
            return found
    return None


def may_be_area_of_lines(situation: Situation) -> bool:
    """Return whether to search the positions at the ends of the two expected lines, after the better and after the
    played move. If the result is True, this search may show the area of the board where the points were lost.
    """
    size = situation.board.size
    if size != AREA_SIZE or situation.lost < SWINGS[size]:
        return False
    gained = _own(situation.better, situation.board.to_move) - _own(situation.after, situation.board.to_move)
    return 2 * float(gained[gained > 0].sum()) >= LEAST_OF_LINES


class _Proofs:
    """Finds a reason for the played move of a situation. The player is the side that made this move."""

    def __init__(self, situation: Situation) -> None:
        self.situation, self.board, self.size = situation, situation.board, situation.board.size
        self.colour = self.board.to_move
        self.colours = self.board.colours()
        self.better, self.after = (_own(map_, self.colour) for map_ in (situation.better, situation.after))
        self.lost = np.where(self.colours == OUTSIDE, 0.0, self.better - self.after)
        self.then, self.instead = self.played_on(situation.played), self.played_on(situation.best)
        self.chains = chains(self.colours, self.size)

    def played_on(self, move: int) -> Board:
        """Return the position after a move by the player. The move may be one that the rules of ko or suicide
        forbid.
        """
        board = self.board.copy()
        board.superko, board.suicide = False, True  # every move of a record counts as legal
        board.play(self.colour, move)
        return board

    # Immediate captures, and ladders

    def own_captures(self) -> Why | None:
        """If the opponent can capture a chain of the player, immediately or in a ladder, return this as the reason;
        None if that is not proven. The largest chain is tried first.
        """
        for stones in sorted(self.dying(), key=len, reverse=True):
            if not self.matters(stones) or self.is_caught(self.instead, stones):
                continue
            cells = chain(self.then.board, int(CELL[stones[0]]))
            free = open_cells(self.then.board, cells)
            points = [int(POINT[cell]) for cell in cells]
            joined = self.situation.played in points
            if len(free) == 1 and self.captures(int(POINT[free[0]])):
                code = SELF_ATARI if joined and not self.in_atari(stones) else ALLOWS_CAPTURE
                return self.reason(code, points, self.colour, self.avoids(), move=int(POINT[free[0]]))
            if len(free) == 2 and (line := ladder(self.then, stones[0], 3 - self.colour)):
                return self.reason(ALLOWS_LADDER, points, self.colour, self.avoids(), move=line[0])
        return None

    def running(self) -> Why | None:
        """If the played move extends a chain in atari that a ladder captures anyway, return this as the reason; None if
        that is not proven.
        """
        played = self.situation.played
        if played == PASS:
            return None
        cells = chain(self.then.board, int(CELL[played]))
        points = [int(POINT[cell]) for cell in cells]
        ran = any(self.colours[one] == self.colour and self.in_atari(self.chain_at(one)) for one in neighbours(played))
        if not ran or len(open_cells(self.then.board, cells)) != 2:
            return None
        line = ladder(self.then, played, 3 - self.colour)
        return None if line is None else self.reason(RUNS_IN_LADDER, points, self.colour, move=line[0])

    def chain_at(self, point: int) -> list[int]:
        return next(stones for stones in self.chains if point in stones)

    def missed_captures(self) -> Why | None:
        """If the better move captures a chain of the opponent, immediately or in a ladder, return this as the reason;
        None if that is not proven. The largest chain is tried first.
        """
        best = self.situation.best
        if best == PASS:
            return None
        for stones in sorted(self.escaping(), key=len, reverse=True):
            free = [int(POINT[cell]) for cell in open_cells(self.board.board, [int(CELL[point]) for point in stones])]
            if best not in free or len(free) > 2 or not self.matters(stones):
                continue
            if len(free) == 1:
                return self.reason(MISSES_CAPTURE, stones, 3 - self.colour, move=best)
            if ladder(self.instead, stones[0], 3 - self.colour):
                return self.reason(MISSES_LADDER, stones, 3 - self.colour, move=best)
        return None

    def is_caught(self, board: Board, stones: Sequence[int]) -> bool:
        """Return whether the opponent, who is to move, can capture the player's chain `stones` immediately or in a
        ladder, or whether suicide has already removed it.
        """
        free = open_cells(board.board, chain(board.board, int(CELL[stones[0]])))
        return len(free) < 2 or (len(free) == 2 and ladder(board, stones[0], 3 - self.colour) is not None)

    def captures(self, move: int) -> bool:
        """Return whether the opponent can make the capture `move` after the played move, without the player immediately
        recapturing at least as many stones as `move` captures.
        """
        then = self.then.copy()
        if then.why_not(3 - self.colour, move):
            return False
        taken = then.play(3 - self.colour, move)
        cells = chain(then.board, int(CELL[move]))
        free = open_cells(then.board, cells)
        back = len(free) == 1 and then.why_not(self.colour, int(POINT[free[0]])) is None
        return not (back and len(cells) >= taken)

    def in_atari(self, stones: Sequence[int]) -> bool:
        return len(open_cells(self.board.board, [int(CELL[point]) for point in stones])) == 1

    # Groups that a line captures

    def own_group(self) -> Why | None:
        """If a group of the player dies because of the played move, return this as the reason; None if that is not
        proven. It is proven if the line after the played move captures the group, and the line after the better move
        does not.
        """
        line, taken = _captured(self.then, self.situation.after_line, 3 - self.colour)
        _, anyway = _captured(self.instead, self.situation.better_line, 3 - self.colour)
        stones = [point for chain_ in self.dying() for point in chain_ if point in taken and point not in anyway]
        if not stones or not self.matters(stones):
            return None
        return self.reason(GROUP_DIES, stones, self.colour, self.avoids(), line=line)

    def missed_group(self) -> Why | None:
        """If the better move would have killed a group of the opponent, return this as the reason; None if that is not
        proven. It is proven if the line after the better move captures the group, and the line after the played move
        does not.
        """
        line, taken = _captured(self.instead, self.situation.better_line, self.colour)
        _, anyway = _captured(self.then, self.situation.after_line, self.colour)
        stones = [point for chain_ in self.escaping() for point in chain_ if point in taken and point not in anyway]
        if not stones or not self.matters(stones):
            return None
        return self.reason(GROUP_LIVES, stones, 3 - self.colour, line=(self.situation.best, *line))

    # Groups that change their owner, by the searches alone

    def turned_group(self) -> Why | None:
        """If a group changes its owner according to the searches, return this as the reason. The group with the largest
        loss in and around it is chosen. None if no group changes its owner, or if the loss is small.

        The chains of a color are one group if they are in the same area of points that change their owner.
        """
        if not self.is_mistake():
            return None
        found = []
        for area in self.areas(MOVED):
            inside = set(area)
            for colour in (self.colour, 3 - self.colour):
                chains = [each for each in self.weakened(colour) if inside >= set(each)]
                stones = sorted(itertools.chain.from_iterable(chains))
                if len(stones) >= LEAST_STONES and (colour == self.colour or self.is_near(stones)):
                    found.append((float(self.lost[area].sum()), len(stones), colour, stones, chains))
        points, _, colour, stones, chains = max(found, default=(0.0, 0, 0, [], []))
        if 2 * points < SHARE * self.situation.lost:
            return None
        if colour == self.colour:
            dies = all(self.after[each].mean() <= SURELY_DEAD for each in chains)
            return self.reason(GROUP_LOST if dies else GROUP_IN_DANGER, stones, colour, self.avoids())
        dies = all(self.better[each].mean() >= 1 - SURELY_DEAD for each in chains)
        return self.reason(MISSES_KILL if dies else MISSES_ATTACK, stones, colour, move=self.situation.best)

    def is_near(self, stones: Sequence[int]) -> bool:
        """Return whether the better move is near these stones. A distant move, or a pass, does not attack them: the
        played move has revived stones that were dead.
        """
        best = self.situation.best
        return best != PASS and _distance(best, stones) < FAR

    def weakened(self, colour: int) -> Iterator[list[int]]:
        """Yield the chains of the color `colour` whose points belong to the player after the better move, but perhaps
        not after the played move.
        """
        for stones in self.chains:
            there = self.colours[stones[0]] == self.then[stones[0]] == colour
            better, after = self.better[stones].mean(), self.after[stones].mean()
            if there and better >= ALIVE and after <= UNSURE and better - after >= WEAKENED:
                yield stones

    def is_mistake(self) -> bool:
        """Return whether the loss is large enough for a reason that rests on the searches alone."""
        return self.situation.lost >= LEAST_BY_SEARCH * SWINGS[self.size]

    def areas(self, least: float) -> Iterator[list[int]]:
        """Yield the connected areas whose points are likelier the player's after the better move than after the played
        move, by at least the probability `least`.
        """
        moved = (self.lost >= least).astype(np.int8)
        return regions(np.flatnonzero(moved), moved)

    # Areas

    def lost_area(self) -> Why | None:
        """Return, as the reason, the connected area in which the played move loses the most points compared with the
        better move, according to the searches' ownership maps. None if this area does not explain the loss.
        """
        if self.size != AREA_SIZE or self.situation.lost < SWINGS[self.size]:
            return None
        found = [(2 * float(self.lost[area].sum()), area) for area in self.areas(SLIGHTLY_MOVED)]
        points, area = max(found, default=(0.0, []))
        if points < max(LARGE_AREA, SHARE * self.situation.lost):
            return None
        ends = self.gained_at_the_ends()
        if ends is not None and 2 * float(ends[area].sum()) < LEAST_SHOWN * points:
            return None
        return self.of_area(area, points)

    def area_of_lines(self) -> Why | None:
        """Return, as the reason, the connected area in which the positions at the ends of the lines differ most.

        None if these positions are unknown, if this difference is small, or if the searches expect a small loss there.
        """
        gained, lost = self.gained_at_the_ends(), self.situation.lost
        if not may_be_area_of_lines(self.situation) or gained is None:
            return None
        moved = (gained >= MOVED_OF_LINES).astype(np.int8)
        found = [(2 * float(gained[area].sum()), area) for area in regions(np.flatnonzero(moved), moved)]
        at_the_end, area = max(found, default=(0.0, []))
        points = 2 * float(self.lost[area].sum())
        if at_the_end < LARGE_AREA_OF_LINES or points < max(LEAST_OF_LINES, SHARE * lost):
            return None
        return self.of_area(area, points, after_lines=round(at_the_end))

    def smaller_area(self) -> Why | None:
        """Like `lost_area`, for an area that has less than LARGE_AREA but at least half of the lost points."""
        found = [(2 * float(self.lost[area].sum()), area) for area in self.areas(SLIGHTLY_MOVED)]
        points, area = max(found, default=(0.0, []))
        ends = self.gained_at_the_ends()
        shown = ends is None or 2 * float(ends[area].sum()) >= LEAST_SHOWN * points
        if not self.is_mistake() or not shown or points < SHARE_OF_AREA * self.situation.lost:
            return None
        return self.of_area(area, points)

    def elsewhere(self) -> Why | None:
        """If the player passed, or if the better move is far from the played move, return this as the reason."""
        played, best = self.situation.played, self.situation.best
        if not self.is_mistake() or best == PASS or (played != PASS and _distance(played, [best]) < FAR):
            return None
        code = PASSES if played == PASS else ELSEWHERE
        return Why(code, {"move": to_gtp(best, self.size), "points": round(self.situation.lost)})

    def gained_at_the_ends(self) -> NDArray[np.float64] | None:
        """Return how much likelier each point is the player's at the end of the better line than at the end of the
        played line, float64 [361]; None if it is unknown.
        """
        better, after = self.situation.better_end, self.situation.after_end
        if better is None or after is None:
            return None
        return np.where(self.colours == OUTSIDE, 0.0, _own(better, self.colour) - _own(after, self.colour))

    def of_area(self, area: list[int], points: float, **more: int) -> Why | None:
        """Return a reason about an area; None if the move was played far from it.

        area: its points. points: the loss there. more: further parameters of the reason.
        """
        played = self.situation.played
        if played != PASS and _distance(played, area) >= FAR:
            return None
        named = {
            "colour": SIDES[self.colour], "at": to_gtp(middle(area), self.size), "points": round(points),
            "area": [to_gtp(point, self.size) for point in area], **more,
        }  # fmt: skip
        return Why(LOSES_AREA, named, self.avoids())

    # Chains that die according to the ownership maps

    def dying(self) -> Iterator[list[int]]:
        """Yield the chains of the player that live after the better move but not after the played move."""
        return self.turned(self.colour)

    def escaping(self) -> Iterator[list[int]]:
        """Yield the chains of the opponent that die after the better move but live after the played move."""
        return self.turned(3 - self.colour)

    def turned(self, colour: int) -> Iterator[list[int]]:
        """Yield the chains of the color `colour` whose points probably belong to the player after the better move, but
        to the opponent after the played move.
        """
        for stones in self.chains:
            there = self.colours[stones[0]] == self.then[stones[0]] == colour
            if there and self.better[stones].mean() >= ALIVE and self.after[stones].mean() <= DEAD:
                yield stones

    def matters(self, stones: Sequence[int]) -> bool:
        """Return whether these stones and the changed areas next to them have at least SHARE of the points that the
        move lost.
        """
        near = set(stones) | {point for stone in stones for point in neighbours(stone)}
        areas = (area for area in self.areas(MOVED) if near & set(area))
        return 2 * float(sum(self.lost[area].sum() for area in areas)) >= SHARE * self.situation.lost

    def avoids(self) -> Why:
        return Why(BETTER_AVOIDS, {"move": to_gtp(self.situation.best, self.size)})

    def reason(
        self, code: str, stones: Sequence[int], colour: int, better: Why | None = None, *,
        move: int | None = None, line: Sequence[int] = (),
    ) -> Why:  # fmt: skip
        """Return a reason about stones that are captured.

        code: the code of the reason. stones: the points of the stones. colour: their color. better: what the better
        move does. move, line: the move or the moves that capture them.
        """
        named: dict[str, Any] = {
            "colour": SIDES[colour], "at": to_gtp(middle(list(stones)), self.size), "stones": len(stones)
        }  # fmt: skip
        if move is not None:
            named["move"] = to_gtp(move, self.size)
        if line:
            named["line"] = [to_gtp(point, self.size) for point in line]
        return Why(code, named, better)


def _own(black: NDArray[np.float64], colour: int) -> NDArray[np.float64]:
    """Convert Black's probabilities to the probabilities of a color."""
    return black if colour == BLACK else 1 - black


def _distance(point: int, area: Sequence[int]) -> int:
    """Return the smallest number of steps along lines of the board from a point to an area."""
    row, column = divmod(point, GRID)
    return min(abs(row - one // GRID) + abs(column - one % GRID) for one in area)


def _captured(board: Board, line: Sequence[int], by: int) -> tuple[tuple[int, ...], set[int]]:
    """Return the moves of a line up to the last capture by the color `by`. Also return the points of the stones that
    these moves capture.
    """
    then, taken, last = board.copy(), set[int](), 0
    for number, move in enumerate(line, 1):
        mover, before = then.to_move, then.colours()
        if then.why_not(mover, move) is not None:
            break
        if then.play(mover, move) and mover == by:
            gone = (before == 3 - by) & (then.colours() == NONE)
            taken |= set(np.flatnonzero(gone).tolist())
            last = number
    return tuple(line[:last]), taken
