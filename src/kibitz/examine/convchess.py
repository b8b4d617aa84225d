"""The examination of `convchess`: that of all systems that predict moves."""

from kibitz.examine.moves import examine

__all__ = ["examine"]
