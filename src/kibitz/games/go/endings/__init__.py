"""The owners of the points and the dead stones at the end of a scored game."""
