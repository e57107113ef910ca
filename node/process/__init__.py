"""One broker as a process of its own: what surrounds a Broker there.

broker_process.py   the loop, the sockets, the signals, the exit status
journal_file.py     where its events go; busy_reports.py: those of the loop itself
descriptors.py      how many files it may have open
heap.py             the collector of cycles, so that it does not hold up the loop
"""
