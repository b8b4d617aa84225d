"""My games: analyze and train on one player's games in separate processes, as the page shows it.

`sources` reads the games, `background` runs a process and receives its messages, `analysing` and `training` are the
jobs of that process, and `state` combines all of it for the routes.
"""
