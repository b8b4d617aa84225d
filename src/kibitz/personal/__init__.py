"""`kibitz personal`: a network that plays like one person, from that person's own games of chess or Go.

`names` finds the person, `games` gathers the games, `book` counts the person's moves, `adapter` is what learns,
`shares` says how probable each move is, and `fitting` puts a run together. What is of the game stands in the packages
`chess` and `go`: the positions and their moves (`asked`), the network (`system`), the book's say in its answers
(`answers`); `kind` tells `fitting` of it.
"""
