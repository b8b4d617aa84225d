"""The store: games as moves and a table, written whole or not at all, and any position in them on demand."""
