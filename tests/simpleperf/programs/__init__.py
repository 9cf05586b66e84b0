"""Programs to prove a grader with: right ones in many dialects, wrong ones with one mistake each, hostile ones.
RUN THESE IN A SANDBOX ONLY.

They end in ``.py.txt``: nothing imports, checks or runs them by accident. :mod:`.make` turns them into files to run.
"""
