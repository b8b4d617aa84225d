"""Choose Go moves: from a network's predicted territory, by a tree search, or as players of a rank do."""
