"""External programs: found by `programs`, called in GTP or UCI with time limits, and ended in every case."""

from __future__ import annotations

from kibitz.errors import KibitzError


class EngineDied(KibitzError):
    """A program did not answer in time (`how` is "hung"), has ended ("died"), or could not be started ("absent"; a GTP
    program: "died"). It is gone now.

    detail: the exit code or what the system said, in words; "" where the message says all.
    """

    def __init__(self, message: str, how: str, detail: str = ""):
        super().__init__(message)
        self.how = how
        self.detail = detail
