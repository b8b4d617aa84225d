"""Choose chess moves: by predicted move probabilities, or by best-first and alpha-beta searches."""
