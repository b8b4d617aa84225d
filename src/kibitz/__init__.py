"""kibitz: learn to evaluate and play chess and Go from game records with convolutional networks."""

from typing import TYPE_CHECKING, Any

from kibitz import environment

if TYPE_CHECKING:
    from kibitz.notebook import show

__all__ = ["show"]

environment.set_up()


def __getattr__(name: str) -> Any:
    """`kibitz.show`, which takes imports that most of kibitz does without."""
    if name == "show":
        from kibitz.notebook import show

        return show
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
