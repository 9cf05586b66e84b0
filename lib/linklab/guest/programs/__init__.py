"""Programs that measure inside a lab. They import the standard library, and `common`, which lies beside them.

Each gets one argument, a JSON object: ``action`` names a function of the program, the rest are what it takes. A server
prints ``ready`` when it listens, and at its end, or at Ctrl-C, one line of JSON if it has something to tell. A client
prints ``ready``, waits for the gate, prints the time of its start, and at its end one line of JSON.
"""
