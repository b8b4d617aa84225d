"""The public Python API: the names that `import kibitz` offers to notebooks and scripts, see `kibitz.__all__`.

The package is a thin layer. `positions` reads positions of any form, `networks` evaluates them, `moves` chooses moves,
`games` analyzes games, `stores` opens stores, `training` trains. Nothing else in kibitz imports this package.
"""
