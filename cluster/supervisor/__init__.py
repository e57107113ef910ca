"""The process that starts a cluster's other processes, watches them, and ends them.

    __main__.py      what the launcher runs
    supervisor.py    the order of starting and of ending
    fleet.py         all its processes: ports, server.properties, the order of their start
    member.py        one process: its phases, its signals, how it ended
    zygote.py        preloading the brokers' modules once, forking brokers
    commands.py, starts.py   what is asked of it, with control/; when a start is done
    local_zookeeper.py, archive_making.py   a ZooKeeper of our own; quicker starts of it
    signals.py       signals as events of the loop

It has one thread and forks from it: a broker starts, and starts again, in milliseconds. A member
that dies stays dead until it is started again: this launcher shows failures, it does not hide them.
"""
