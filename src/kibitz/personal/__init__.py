"""`kibitz personal`: train a network that plays like one person, on that person's games of chess or Go.

The modules have these contents:

names: find the person by name.
games: collect the person's games in a store, kibitz's database of games.
book: the person's opening book, which counts the person's moves.
adapter: the adapters, small trainable layers in a frozen network.
shares: compute move probabilities in the positions in which the person moved.
fitting: train the network, with the functions of the modules `chess.kind` and `go.kind`.
chess, go: the parts that depend on the game, which are the positions, the network, and its correction by the book.
"""
