"""Sockets: one epoll loop, the connections that clients open, and the channels opened to brokers.

Kafka's names are kept: the acceptor takes connections, the processor owns them. Both, and all that
handles requests, run on one loop, so nothing here takes a lock.

    loop.py         EventLoop: readiness, timers, posts from threads, worker threads
    acceptor.py     the listening socket and the limits on connections
    connection.py   one client's connection: frames in, ordered responses out
    processor.py    all connections: what each pass flushes, resumes and expires
    channel.py      TcpNetwork and TcpChannel: requests to other brokers
    buffer.py       bytes in; output.py: bytes and file slices out
"""
