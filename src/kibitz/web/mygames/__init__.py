"""The tab "My games" on the browser page of `kibitz board`: analyze one player's games, and train on them, in separate
processes.

`sources` reads the games, `background` runs a process and receives its messages, `analysing` and `training` are the
jobs of that process, and `state` combines these modules for the routes.
"""
