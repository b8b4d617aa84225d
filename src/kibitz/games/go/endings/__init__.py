"""Who owns each point at the end of a counted game, and which stones are dead."""
