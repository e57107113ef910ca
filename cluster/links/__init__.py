"""Proxies between all that belong to a cluster, laid on request, and what is done to the links.

    plan.py           which links there are: who dials whom, at which address
    effects.py        what can be done to a link, as values; board.py, what is being done
    shaper.py         one direction of a connection: what may leave, and when
    stream.py         reads, shapes, writes; connection.py, two of them between two sockets
    interception.py   where requests can be read and changed on their way
    requests/         what is done there to those of one API
    door.py           an address that is dialled: open, refusing, or silent
    target.py         whether who stands behind it accepts
    process.py        the process that all this runs in
    commands.py       what may be asked of it, and control.py, who asks

Broker i reaches broker j by a proxy of its own, clients reach broker j by another, broker i reaches
each ZooKeeper server by one, and these reach each other by some: so each direction of each pair can
be hurt alone, by an ordinary user. Whoever is behind an address is no matter to the proxies.

Caveats: a proxy accepts for whom it stands before, so a connection is made without the delay of
its link, and bytes that were acknowledged may not have arrived; a target whose queue of connections
is full looks as if it accepted. A dead target refuses here too, a silent link leaves a new
connection without an answer: both as without a proxy.
"""
