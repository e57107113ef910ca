"""What tests plug in for the outside: one double for each seam, typed as the real thing is.

scheduler.py      time that moves by hand
clock.py          nanoseconds for the loop itself
workers.py        threads: on the loop a little later, or held until the test lets go
journal.py        events, in a list or nowhere
network.py        other brokers, answered by the test
session.py        a ZooKeeper session, answered by the test
memory_disk.py    a disk that keeps what was synced apart from what was not
  memory_faults.py  calls that fail, power that goes, and what is left then
  memory_tree.py, memory_content.py, memory_file.py   folders, pages, handles

tests/doubles/test_*.py and tests/storage/test_disk_seam.py hold them to the rules that the real
things pass too. ZooKeeper's own double is its model, logquake.zk.model_session. A whole network
under a simulated clock is tests/sim's.
"""
