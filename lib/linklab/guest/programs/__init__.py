"""Programs that run inside a lab, by themselves: they import nothing of Linklab but what lies beside them.

A server prints ``ready`` when it is, and one line of JSON at its end, or at Ctrl-C. A client prints ``ready``, waits
for the gate, prints the time of its start, and one line of JSON at its end.
"""
