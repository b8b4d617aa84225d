"""The public Python API: the names that `import kibitz` gives to notebooks and scripts, see `kibitz.__all__`.

A thin layer. `positions` reads positions of any form, `networks` evaluates them, `moves` chooses moves, `games`
analyses games, `stores` opens stores, `training` trains. Nothing else in kibitz imports this package.
"""
