"""kibitz: learn to evaluate and play chess and Go from game records with convolutional networks."""
