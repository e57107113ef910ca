"""Every fault as a value, and one table that performs them.

seconds.py     how times are written: 3s, 500ms, 5m
value.py       what all faults have in common
processes.py   kill, stop, pause, restart
links.py       cut, delay, throttle, reset between two ends; one API's requests or answers
machines.py    disks and clocks
zookeeper.py   ZooKeeper's own servers
membership.py  ZooKeeper sessions, the controller's office, brokers that come and go
clients.py     what becomes of a workload's own process
any_fault.py   all of them, read by the name of the kind
aiming.py      whom a fault means at the moment when it is begun
strikes.py     faults that last until their effect is seen
performing.py  the table: a value to what is done to a cluster, and how it is undone

A value says what is to be broken, in words that a person can write into a file; it knows no
cluster. What no function of the table performs cannot be done here, and is said to be so.
"""
