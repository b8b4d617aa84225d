"""How long a test waits for what must come."""

from __future__ import annotations

PATIENCE = 600.0
"""Seconds. Only a test that has failed already waits so long: kernels may have to be compiled, on a busy machine."""
