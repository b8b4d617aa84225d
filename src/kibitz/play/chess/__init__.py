"""Choose chess moves: policies, evaluation, best-first and alpha-beta search."""
