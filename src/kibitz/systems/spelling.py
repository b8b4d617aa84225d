"""Old and current names of settings, on the command line and in stored files. This module needs no torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

RENAMED_SETTINGS = {"l2": "weight_decay"}
"""The current name of each renamed setting, by its old name. Old run directories and command lines may have old names.
"""
RENAMED_VALUES = {"optimiser": {"adam": "adamw"}, "value_optimiser": {"adam": "adamw"}}
"""The current value of each renamed value: setting -> old value -> current value."""
RENAMED_TRAINING = {"snapshot_every": "checkpoint_every", "snapshot_megabytes": "checkpoint_megabytes"}
"""The current name of each renamed option of the training loop, by its old name. Recipes of other packages may have old
names.
"""

AUTO = "auto"
"""The value of --batch with which `kibitz train` finds the batch size automatically (see training.batch_size)."""


def respelled(
    settings: Mapping[str, Any], known: Collection[str] = (), choices: Mapping[str, Collection[Any]] | None = None
) -> dict[str, Any]:
    """Return the settings in a run.json (the description of a trained network) with the names and values of this
    version.

    settings: the stored settings, which may have names and values of earlier versions.
    known: the current names of the settings of the system (kind of network). These names are not changed.
    choices: the currently allowed values of each setting, as a dict from the setting's name to the values. These values
        are not changed.
    """
    current: dict[str, Any] = {}
    for old, value in settings.items():
        name = old if old in known else RENAMED_SETTINGS.get(old, old)
        values = {} if value in (choices or {}).get(name, ()) else RENAMED_VALUES.get(name, {})
        current[name] = values.get(value, value) if isinstance(value, str) else value
    return current


def same_value(stored: Any, value: Any) -> bool:
    """Return whether a stored value of a setting equals `value`, or has the same text. Earlier versions stored some
    choices as numbers, which are strings now.
    """
    return bool(stored == value or str(stored) == str(value))


def option_of(setting: str) -> str:
    """Return the command line option of a setting: "--weight-decay" for "weight_decay"."""
    return f"--{setting.replace('_', '-')}"
