"""Play: a trained network that answers quickly, for every face that asks it about positions."""
