"""Games of a made-up person who plays the same openings again and again, one of them with a mistake."""

from __future__ import annotations

PERSON = "Muñoz, Ana"
WHITE = (
    "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+",
    "e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Bc5 c3 d6",
    "e4 e5 Nf3 d6 d4 exd4 Nxd4 Nf6 Nc3 Be7",
    "e4 e5 Nf3 f6 Nxe5 fxe5 Qh5+ Ke7",
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
    "e4 e6 d4 d5 Nc3 Nf6 e5 Nfd7",
)
BLACK = ("d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6", "d4 d5 Nf3 Nf6 Bf4 Qd6")
"""In the last one, Black gives the queen for a bishop."""
LEFT = "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6"
"""One game, the newest, with a move that the person does not usually play."""


def _game(number: int, sans: str, is_white: bool) -> str:
    moves = sans.split()
    text = " ".join(f"{at // 2 + 1}. {san}" if at % 2 == 0 else san for at, san in enumerate(moves))
    names = (PERSON, f"Opponent {number}") if is_white else (f"Opponent {number}", PERSON)
    result = ("1-0", "0-1", "1/2-1/2")[number % 3]
    day = f"2024.{1 + number // 28:02}.{1 + number % 28:02}"
    return (
        f'[Event "Rated blitz game"]\n[White "{names[0]}"]\n[Black "{names[1]}"]\n[WhiteElo "1520"]\n'
        f'[BlackElo "1490"]\n[Date "{day}"]\n[Result "{result}"]\n\n{text} {result}\n\n'
    )


def games(times: int = 3, white: tuple[str, ...] = WHITE, black: tuple[str, ...] = BLACK, left: str = LEFT) -> str:
    """Each opening a few times, and one game that leaves them, as PGN."""
    lines = [(sans, True) for sans in white] + [(sans, False) for sans in black]
    every = [each for _ in range(times) for each in lines] + ([(left, True)] if left else [])
    return "".join(_game(number, sans, is_white) for number, (sans, is_white) in enumerate(every))
