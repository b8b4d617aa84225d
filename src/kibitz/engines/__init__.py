"""Engines: kibitz behind the protocols that boards and tournaments speak."""
