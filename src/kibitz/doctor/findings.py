"""The results of the checks of `kibitz doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]
"""The state of a finding. ok: everything works. note: something is missing that not everybody needs. problem: something
does not work.
"""


@dataclass(frozen=True)
class Finding:
    """One line of the report of `kibitz doctor`.

    key: a stable name of the thing that was checked, such as "disk" or "network human".
    state: "ok", "note" or "problem", see `State`.
    text: what was found.
    advice: what the user can do; "" if there is nothing to do.
    """

    key: str
    state: State
    text: str
    advice: str = ""
