"""What is broken inside one broker: its disk, its clock, its process.

orders.py         what may be ordered, as values that travel as JSON
disk/             a Disk that fails, is slow, tears writes, or ends the process, as it was ordered
power/            what a loss of power takes back: who records it, who performs it
skewed_clock.py   a wall clock that is wrong
duty_cycle.py     for how long a starved process runs and is stopped, by turns
routed_network.py   other brokers, dialled where a proxy to them is
inside.py         in the broker: takes orders from the supervisor, wraps what the broker is handed

The supervisor keeps the orders (supervisor/standing_orders.py), since they concern a machine and
not a process: a broker that is killed and started finds its disk as slow as before. A broker of a
cluster without ``faults`` knows nothing of all this, and nothing of it is imported there.

What cannot be done here: slow or failing reads through the page cache of a file that other
processes map, faults of the disk under ZooKeeper, and a wall clock for what asks the system itself
(TLS, tokens of SASL, times of files).
"""
