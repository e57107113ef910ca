"""What a log knows of its idempotent and transactional producers (KIP-98).

state.py         all of one log's, with what is staged undone when a write fails
  entry.py         one: its epoch and its latest five batches
  rules.py         what a leader refuses of it
  transactions.py  what is undecided, and decided but not replicated: the last stable offset
snapshots.py     the .snapshot files of a log; snapshot.py is one of them
recovery.py      what they and the batches after them say at a start
"""
