"""The journal of verdicts: it survives whatever ends its writer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kibitz.games.go.endings.journal import Journal
from kibitz.games.go.points import POINTS

OWNER = (np.arange(POINTS) % 3).astype(np.uint8)

WRITER = """
import os, signal, sys
from pathlib import Path
import numpy as np
from kibitz.games.go.endings.journal import Journal
journal = Journal(Path(sys.argv[1]))
for key in range(1, 21):
    journal.add(key, key % 3, (np.arange(361) % 3).astype(np.uint8))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_noted_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ended = subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    assert ended.returncode == -9
    journal = Journal(path)
    assert len(journal.known) == 20
    for key in range(1, 21):
        verdict, owner = journal.get(key) or (None, None)
        assert verdict == key % 3
        assert np.array_equal(owner, OWNER)
    journal.close()


@pytest.mark.parametrize("damage", ["torn", "changed"])
def test_a_damaged_record_ends_it_and_it_goes_on_from_there(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    for key in (1, 2, 3):
        journal.add(key, 1, OWNER)
    journal.close()
    text = bytearray(path.read_bytes())
    if damage == "torn":
        del text[-5:]
    else:
        text[-50] ^= 1
    path.write_bytes(text)
    journal = Journal(path)
    assert sorted(journal.known) == [1, 2]
    journal.add(4, 2, None)
    journal.close()
    journal = Journal(path)
    assert sorted(journal.known) == [1, 2, 4]
    found = journal.get(4)
    assert found is not None
    assert found[0] == 2
    assert not found[1].any()
    assert journal.get(3) is None
    journal.close()


def test_a_file_of_another_kind_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text("my diary")
    journal = Journal(path)
    assert not journal.known
    journal.add(1, 1, OWNER)
    journal.close()
    journal = Journal(path)
    assert sorted(journal.known) == [1]
    journal.close()
