"""One broker: requests come in, partitions take and give records, other brokers follow them.

    process/          what runs it on a machine: the loop, sockets, signals
    broker.py         the broker over what is outside of it (outside.py)
    composition/      what it is made of, and how that hangs together
    life/             how it comes into its cluster and leaves it
    settings/         server.properties
    net/              sockets: from bytes to requests, from responses to bytes
    requests/         one module per API key
    coordinators/     groups and transactions: state that is a log
    replication/      partitions: leaders, followers, what is committed
    topics/           what topics are set to; those that are created by being asked for
    metadata/         what it knows of the whole cluster
    authorizer/       who may do what
    controller_link.py, producer_ids.py   what it asks the controller for
    journal_events.py what it tells the journal

Begin with broker.py, or with requests/produce.py and docs/architecture/produce.md.
"""
