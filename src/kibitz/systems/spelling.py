"""How settings are spelled on the command line, and how earlier versions spelled them. Needs no torch."""

from __future__ import annotations

RENAMED_SETTINGS = {"l2": "weight_decay"}
"""Old name of a setting -> its name. Run directories have old names, command lines may have them."""
RENAMED_VALUES = {"optimiser": {"adam": "adamw"}, "value_optimiser": {"adam": "adamw"}}
"""Setting -> old value -> its value."""


def option_of(setting: str) -> str:
    """The option of a setting: of "weight_decay" --weight-decay."""
    return f"--{setting.replace('_', '-')}"
