"""The file with the state of a hyperparameter search: the journal of an Optuna study, with one line per event.

Even after the program was killed, the file has all finished trials and the number of the unfinished trial.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.errors import KibitzError, UsageError
from kibitz.lock import exclusive_lock
from kibitz.systems.spelling import same_value

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import JournalStorage

NAME = "kibitz search"
_ABOUT = "about"
_FIRST = b'{"op_code"'
"""The first bytes of a journal of Optuna."""


class _NoLock:
    """Replaces the journal's lock, which would persist for half a minute after a kill. kibitz locks the whole study
    instead.
    """

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass


@contextlib.contextmanager
def opened(path: Path, about: dict[str, Any]) -> Iterator[Study]:
    """Inside this context, the study in a file is open, and the file is locked. If the file does not exist, it is
    created.

    about: the fingerprint of the search (see `TuneConfig.fingerprint`). Raises UsageError if the file belongs to
    another search, and KibitzError if it is not a study, is damaged, or is in use.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(path.with_name(f".{path.name}.lock"), path, "search"), warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = _storage(path)
        names = [study.study_name for study in storage.get_all_studies()]
        if names not in ([], [NAME]):
            raise KibitzError(f"{path} belongs to another program. Choose another --out.")
        study = optuna.create_study(storage=storage, study_name=NAME, load_if_exists=True)
        before = study.user_attrs.get(_ABOUT)
        if before is not None and "l2s" in before:
            raise UsageError(f"{path} is from an earlier version of kibitz. Choose another --out.")
        if before is None:
            study.set_user_attr(_ABOUT, about)
        elif not _same(before, about):
            raise UsageError(f"{path} was started with {_differences(before, about)}. Choose another --out.")
        yield study


def _storage(path: Path) -> JournalStorage:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    data = path.read_bytes() if path.exists() else b""
    if data and not data.startswith(_FIRST):
        raise KibitzError(f"{path} is not a file of kibitz tune. Choose another --out.")
    if not data.endswith(b"\n"):  # remove an incomplete last line, from a full disk or a power cut
        with path.open("ab") as file:
            file.truncate(data.rfind(b"\n") + 1)
    lock: Any = _NoLock()
    try:
        return JournalStorage(JournalFileBackend(str(path), lock_obj=lock))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError):
        raise KibitzError(f"{path} is damaged. Choose another --out.") from None


def _same(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether the search in the file is the requested search."""
    return before.keys() == now.keys() and all(same_value(before[name], value) for name, value in now.items())


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Describe in a few words how the search in the file differs from the requested search."""
    parts = []
    for name, value in now.items():
        if name in ("fingerprint", "split"):
            continue
        if not same_value(before.get(name), value):
            parts.append(f"{name} {_shown(before.get(name))} instead of {_shown(value)}")
    if before.get("fingerprint") != now["fingerprint"]:
        parts.append("other games")
    if before.get("split") != now["split"]:
        parts.append("another split")
    return ", ".join(parts) or "other settings"


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
