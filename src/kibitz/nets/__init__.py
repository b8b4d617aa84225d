"""Parts that the networks of several papers share: layers, optimisers, schedules, initial weights."""
