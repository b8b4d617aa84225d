"""Parts that the networks of several systems (kinds of networks) share: layers, optimizers, learning rate schedules,
initial weights.
"""
