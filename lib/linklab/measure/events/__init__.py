"""What happened in a recorded run, and why: losses, queues, retransmissions, windows, timeouts, flows, each an event.

``run.events`` is a table of them, made once from the recording (`reading`): `traffic` puts packets into flows, and each
of the other modules tells one kind of story.
"""
