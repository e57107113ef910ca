"""The process that starts a cluster's other processes, watches them, and ends them.

    __main__.py      what the launcher runs
    supervisor.py    the order of starting and of ending
    fleet.py         all its processes: ports, server.properties, the order of their start
    member.py        one process: its phases, its signals, how it ended
    program.py       what a member runs: own_program.py, kafka_program.py
    zygote.py        preloading the brokers' modules once, forking brokers
    scram_program.py users, put into ZooKeeper before the first broker starts
    broker_making.py what a broker has before it is started; broker_ports.py: its ports
    membership.py    brokers that come and go while the cluster runs
    laid_links.py    the links between members; rewiring.py: to those that came later
    named_peers.py, ensemble_links.py   the same between those that find each other by name
    inlet.py         the way into a broker whose inside can be broken
    standing_orders.py   what is broken there, until when; line.py: how a process is told
    starving.py      a member with a share of the processor; power_cut.py: without power
    commands.py, starts.py   what is asked of it, with control/; when a start is done
    local_zookeeper.py, archive_making.py   a ZooKeeper of our own; quicker starts of it
    signals.py       signals as events of the loop

It has one thread and forks from it: a broker starts, and starts again, in milliseconds. A member
that dies stays dead until it is started again: this launcher shows failures, it does not hide them.
"""
