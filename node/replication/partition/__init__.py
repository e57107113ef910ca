"""One partition on this broker, in the order to read it.

isr.py, progress.py  the states: who is in sync, how far each follower is
roles.py             leader, follower, offline, and the rules over those states
replica_log.py       the log with its high watermark and last stable offset
partition.py         the moves between roles
leading.py           a leader's writes and ISR changes
  alter_partition.py   the controller's word on the latter
reading.py, offsets.py  what clients and followers may see
"""
