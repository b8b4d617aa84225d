"""My games: one player's games, analysed and learned from in processes of their own, as the page shows it.

`sources` reads the games, `background` runs a process and listens to it, `analysing` and `training` are what such a
process does, and `state` puts all of it together for the routes.
"""
