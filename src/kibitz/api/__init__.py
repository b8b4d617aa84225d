"""The public Python API: the names that `import kibitz` offers to notebooks and scripts, see `kibitz.__all__`.

The package is a thin layer over the rest of kibitz. `positions` reads positions in any form, `networks` evaluates
positions, `moves` chooses moves, `games` analyzes games, `stores` opens game databases, `training` trains networks, and
`testing` tests networks. Nothing else in kibitz imports this package.
"""
