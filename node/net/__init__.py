"""Sockets: one epoll loop, the connections that clients open, and the channels opened to brokers.

Kafka's names are kept: the acceptor takes connections, the processor owns them. Both, and all that
handles requests, run on one loop, so nothing here takes a lock.

    loop.py         EventLoop: readiness, timers, posts from threads, worker threads
                    timers.py: what is due; pass_watch.py: what kept the others waiting
    listener.py     the port; acceptor.py takes connections from it, within quotas.py
                    (connection_rate.py: how fast they come)
    processor.py    all connections: what they share (shared.py), who is closed, and when
    connection.py   one of them: frames in, requests handed on, ordered responses out
                    buffer.py: bytes in; parser.py: frames to requests; slot.py: a request's
                    place in the order; output.py: bytes and file slices out
    admittance.py   how clients get in at a listener; sasl_gate.py: who they say they are
    tls/            sockets that are encrypted
    limits.py       what connections are held to; memory.py: all of them together
    faults.py       what the journal is told of clients at fault
    links/          connections to other brokers
"""
