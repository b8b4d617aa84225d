"""Export a network as a folder for other programs: the ONNX file, a description of its inputs and outputs, and an
example in Python.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from kibitz.durable import write_whole
from kibitz.errors import KibitzError
from kibitz.games.chess.sides import SCALES, SPEEDS
from kibitz.received import is_self_contained
from kibitz.runs import ONNX, Run, write_json
from kibitz.systems import COMPARISON, find

CARD = "CARD.md"
LICENSE = "GPL-3.0-or-later"
STATE = {
    "chess": [
        "side to move: 0 White, 1 Black",
        "castling rights: 1 White's king's side, 2 White's queen's side, 4 and 8 Black's, added",
        "en passant: 1 (a-file) to 8 (h-file) if a pawn on this file can be captured en passant, else 0",
        "plies since the last capture or pawn move, at most 255",
    ],
}
"""The meaning of each column of a network's input `state`, in words, by game."""
CODES = {
    "chess": "squares a1, b1 … h8: 0 empty, 1 to 6 White's pawn, knight, bishop, rook, queen, king, 7 to 12 Black's",
}
SIDE_INPUTS = {
    "rating": "rating of the side to move, in points, divided by 16 and rounded down",
    "opponent_rating": "rating of the other side, in points, divided by 16 and rounded down",
    "speed": ", ".join(f"{i} {name or 'unknown'}" for i, name in enumerate(SPEEDS)),
    "scale": "rating scale of both ratings: " + ", ".join(f"{i} {name or 'unknown'}" for i, name in enumerate(SCALES)),
    "last_from": "origin square of the last move, plus 1 (a1 is 1); 0 if there was no move",
    "last_to": "target square of the last move, plus 1; 0 if there was no move",
    "before_from": "origin square of the move before the last one, plus 1; 0 if there was no move",
    "before_to": "target square of the move before the last one, plus 1; 0 if there was no move",
    "outcome": "the result for the side to move: 1 loss, 2 draw, 3 win",
}
OUTPUTS = {
    "origin": "probability that the move starts from each square",
    "target": "probability that the move goes to each square, given its origin square (64 rows) or the type of its "
    "piece (6 rows: pawn, knight, bishop, rook, queen, king)",
    "promotion": "for a promotion on each file: probability of knight, bishop, rook, queen",
    "outcome": "probabilities that the side to move wins, draws and loses",
    "value": "expected result for the side to move, 1 won, 0 drawn, −1 lost",
    "white_wins": "probability that White wins",
}


def write_folder(run: Run, folder: Path, name: str | None = None, numbers: str = "") -> list[Path]:
    """Write the ONNX file, its description and an example into an existing empty folder, and return the paths of the
    files.

    name: the network's name in the description; None for the name of the run (the folder of a trained network).
    numbers: "int8" or "half" (fp16) to convert the weights; "" to keep them. Raises KibitzError if the run has no ONNX
    file. Networks for Go and networks that compare positions also raise KibitzError, because they can't be exported.
    """
    check(run)
    description = describe(run, name)
    if numbers:
        from kibitz.training.quantised import write_half, write_int8

        {"int8": write_int8, "half": write_half}[numbers](run, folder / ONNX)
        description["numbers"] = numbers
    else:
        shutil.copyfile(run.path / ONNX, folder / ONNX)
    write_json(folder / "description.json", description)
    write_whole(folder / "example.py", (Path(__file__).parent / "example_chess.txt").read_bytes())
    files = [folder / name for name in (ONNX, "description.json", "example.py")]
    if (run.path / CARD).is_file():
        shutil.copyfile(run.path / CARD, folder / CARD)
        files.append(folder / CARD)
    return files


def check(run: Run) -> None:
    """Raise KibitzError if the network of a run (the folder of a trained network) can't be exported. Networks for Go
    and networks that compare positions are not supported.
    """
    if run.info["game"] not in STATE or COMPARISON in find(run.info["system"]).answers:
        raise KibitzError(
            f"kibitz export does not support {run.info['system']} networks yet (got {run.name}). You can copy the"
            f" ONNX file: {run.path / ONNX}"
        )


def opened(run: Run) -> Any:
    """Return an onnxruntime.InferenceSession for the ONNX file of a run (the folder of a trained network). Raises
    KibitzError if the file is missing or damaged.
    """
    import onnxruntime

    if not (run.path / ONNX).is_file():
        raise KibitzError(f"{run.path / ONNX} is missing. Run the training command again to finish it.")
    try:
        whole = is_self_contained(run.path / ONNX)
        session = onnxruntime.InferenceSession(run.path / ONNX, providers=["CPUExecutionProvider"]) if whole else None
    except Exception:  # ONNX Runtime raises a different exception for each kind of damage
        session = None
    if session is None:
        raise KibitzError(f"{run.path / ONNX} is damaged. Run the training command again to finish it.")
    return session


def describe(run: Run, name: str | None = None) -> dict[str, Any]:
    """Return a description of the ONNX file of a run (the folder of a trained network): its inputs and outputs with
    their dtypes, shapes and meanings. name: the name of the network; None for the name of the run.
    """
    game, side_inputs = run.info["game"], run.side_inputs
    session = opened(run)
    columns = STATE[game] + [
        f"{each}: {SIDE_INPUTS.get(each, 'see kibitz')}; unknown: {usual}" for each, usual in side_inputs.items()
    ]
    return {
        "network": name or run.name,
        "system": run.info["system"],
        "weights_sha256": run.weights_sha256(),
        "licence": LICENSE,
        "inputs": {
            "codes": {"type": "uint8", "shape": ["positions", 64], "meaning": CODES[game]},
            "state": {"type": "uint8", "shape": ["positions", len(columns)], "columns": columns},
        },
        "usual_side_inputs": list(side_inputs.values()),
        "outputs": {
            item.name: {"type": "float32", "shape": item.shape, "meaning": OUTPUTS.get(item.name, "")}
            for item in session.get_outputs()
        },
    }
