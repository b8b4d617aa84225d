"""GTP commands whose results the program GoGui shows on its board: the ownership map (which side gets each point), the
expected score, and the best moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kibitz.engines.gtp.parse import Command, colour
from kibitz.engines.gtp.play import written
from kibitz.engines.gtp.session import GtpSession, Handler
from kibitz.games.go.points import BLACK, PASS, to_gtp
from kibitz.play.value import RULES
from kibitz.text import signed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kibitz.play.go.thought import Look

LABELLED = 9
"""The number of best moves that GoGui marks on the board."""
BLACKS, UNSURE, WHITES = (38, 70, 160), (190, 190, 190), (196, 60, 50)
"""Colors, as red, green and blue, of points that certainly become Black's, of uncertain points, and of points that
certainly become White's.
"""


def _analyze_commands(session: GtpSession, command: Command) -> str:
    return "\n".join(
        [
            "gfx/Owners and Score/kibitz-owners_gfx",
            "dboard/Owners/kibitz-owners",
            "cboard/Owners in Colors/kibitz-owners_colors",
            "gfx/Best Moves/kibitz-moves %c",
            "string/Expected Score/kibitz-score",
            "string/Final Score/final_score",
            "pstring/Dead Stones/final_status_list dead",
            "string/Why the Last Move/gomill-explain_last_move",
            "none/Rules/kata-set-rules %s",
            *(["none/Rank/kibitz-set-rank %s"] if session.settings.takes_ranks else []),
        ]
    )


def _map(session: GtpSession) -> NDArray:  # type: ignore[type-arg]
    """Return the ownership map in hundredths, [size, size]: 1 for Black, -1 for White."""
    from kibitz.play.go.ownership import points_of

    size = session.game.size
    return (2 * session.owners()[points_of(size)].reshape(size, size) - 1).round(2) + 0.0  # + 0.0 turns -0.0 into 0.0


def _owners(session: GtpSession, command: Command) -> str:
    return "\n" + "\n".join(" ".join(f"{value:5.2f}" for value in row) for row in _map(session).tolist())


def _owners_colors(session: GtpSession, command: Command) -> str:
    return "\n" + "\n".join(" ".join(_paint(value) for value in row) for row in _map(session).tolist())


def _paint(value: float) -> str:
    """Return the color of a point. The value -1 has the color WHITES, 0 UNSURE and 1 BLACKS; colors between are
    mixed.
    """
    end = BLACKS if value > 0 else WHITES
    mixed = (round(u + abs(value) * (e - u)) for u, e in zip(UNSURE, end, strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _owners_gfx(session: GtpSession, command: Command) -> str:
    from kibitz.play.go.ownership import points_of

    size = session.game.size
    names = [to_gtp(point, size) for point in points_of(size).tolist()]
    pairs = (f"{name} {value:.2f}" for name, value in zip(names, _map(session).ravel().tolist(), strict=True))
    return "\nINFLUENCE " + " ".join(pairs) + "\nTEXT " + _score_text(session)


def _score(session: GtpSession, command: Command) -> str:
    return _score_text(session)


def _score_text(session: GtpSession) -> str:
    value, spread = session.value()
    lead = value.lead or 0.0
    if value.source == RULES:
        return f"Counted score {written(round(lead, 2))}, Black's win probability {100 * value.chance:.0f}%"
    return f"Expected score {written(round(lead, 1))} ± {spread:.1f}, Black's win probability {100 * value.chance:.1f}%"


def _moves(session: GtpSession, command: Command) -> str:
    game = session.game
    side = colour(command.words[0]) if command.words else game.board.to_move
    seen: list[Look] = []
    session.player.choose(game.board, side, game.terms.for_board(), last=game.last_point(), on_progress=seen.append)
    best = seen[-1](LABELLED).moves
    searches = session.player.searches
    worths = [f"{m.winrate:.0%}" if searches or m.gain is None else signed(m.gain) for m in best]
    labels = [f"{to_gtp(m.point, game.size)} {worth}" for m, worth in zip(best, worths, strict=True) if m.point < PASS]
    black_lead = best[0].lead if side == BLACK else -best[0].lead
    text = f"TEXT {to_gtp(best[0].point, game.size)}: expected score {written(round(black_lead, 1))} after this move"
    return "\n".join(["", *(["LABEL " + " ".join(labels)] if labels else []), text])


COMMANDS: dict[str, Handler] = {
    "gogui-analyze_commands": _analyze_commands,
    "kibitz-owners": _owners,
    "kibitz-owners_colors": _owners_colors,
    "kibitz-owners_gfx": _owners_gfx,
    "kibitz-score": _score,
    "kibitz-moves": _moves,
}
