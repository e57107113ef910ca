"""Classes that Spark calls first, one a format.

topics.py     "logquake": topics, read and written
segments.py   "logquake.segments": what lies in brokers' log directories; damage.py: where no more
journal.py    "logquake.journal": histories and journals
files.py      files, small ones together in a task
"""
