"""Search for good training settings: the search space, the trials, and the file that records them."""
