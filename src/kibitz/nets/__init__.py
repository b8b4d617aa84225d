"""Parts that several systems' networks share: layers, optimizers, learning rate schedules, initial weights."""
