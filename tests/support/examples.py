"""How many examples a property is tried with: 20, under CI 150, in a soak 2,000 (HYPOTHESIS_PROFILE=soak).

The first two try the same examples each time, so that no test fails by chance. The soak looks for new ones: what it
finds becomes an @example.
"""

from __future__ import annotations

import os

from hypothesis import settings

PROFILES = {"local": 20, "ci": 150, "soak": 2000}


def choose_profile() -> None:
    """Before the tests are imported."""
    for name, count in PROFILES.items():
        # No deadline: other processes may have the cores.
        settings.register_profile(name, max_examples=count, deadline=None, derandomize=name != "soak")
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local"))


def share(part: float) -> int:
    """Fewer examples than the profile's, for what takes long: that part of them."""
    return max(1, round(settings().max_examples * part))
