"""The game store, kibitz's compact game database: moves, a table of the games, and any position on demand."""
