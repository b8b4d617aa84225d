"""Engines: kibitz behind the protocols of boards and tournaments."""
