"""The process that starts a cluster's other processes, watches them, and ends them.

    __main__.py      ``python -m logquake.cluster.supervisor STATE_DIR``
    supervisor.py    the order of starting and of ending
    member.py        one process: its phases, its signals, how it ended
    zygote.py        preloading the brokers' modules once, forking brokers
    control_server.py, commands.py   what the command line asks of it
    local_zookeeper.py, archive_making.py   a ZooKeeper of our own; quicker starts of it
    signals.py       signals as events of the loop

It has one thread and forks from it: a broker starts, and starts again, in milliseconds. A member
that dies stays dead until it is started again: this launcher shows failures, it does not hide them.
"""
