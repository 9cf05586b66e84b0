"""Run untrusted programs against each other on the hosts of a network, and record what they did.

The engine (`linklab.programs.engine`) plays scenes: it starts programs, confined, with relays between them that note
what passes, and gives a record. A submission is read (`submission`) and tried in a lab (`place`). Each program
that students write has a folder: what is played with it, and what the record must show.
"""
