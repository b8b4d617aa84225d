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
    """One line of the report.

    key: a stable name, such as "disk" or "network human".
    text: what was found.
    advice: what to do; "" if there is nothing to do.
    """

    key: str
    state: State
    text: str
    advice: str = ""
