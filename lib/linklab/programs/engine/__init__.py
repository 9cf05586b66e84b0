"""Run untrusted programs against each other on the hosts of a network, and record what they did.

A scene (`linklab.programs.engine.scene`) starts a server, clients, a relay between them that notes what passes, and
peers that misbehave on purpose; it gives a record, which is plain JSON. It runs inside a lab. It knows
nothing of what the programs are for, and judges nothing. Standard library only: it is sent into labs, which must load
it fast.
"""
