"""Choose Go moves: from predicted territory, or by a tree search."""
