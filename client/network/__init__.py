"""The network core of every client, without I/O: no socket, no thread, no clock of its own.

    metadata_updates.py  requests metadata when it is time
    metadata.py          what is known of the cluster, and when to refresh it
                         snapshot.py: at one moment; topics_in_use.py: about which topics
                         moved_leaders.py: new leaders, named in other answers
                         partitions.py: a topic's partitions, as programs get them
    network_client.py    which brokers can be sent a request, and sending it
                         load.py: the broker to ask what any can answer
                         coordinator_lookups.py: FindCoordinator, in each version
    links.py             all connections: a driver reports events, and carries out effects.py
                         link_log.py: logs their ends
    dialogue.py          what is sent on a connection, and in what order
                         versions.py: ApiVersions, the first; throttling.py: how long to pause
    node_states.py       what is remembered of a broker between its connections
                         addresses.py: of its host; backoff.py: how long to wait
    link.py              one life of one connection; frames.py: what it receives
    pending_answers.py   answers that wait to be delivered
    settings.py          its bounds, under Kafka's names

A link's stages are types, in the order in which they come: Resolving, Connecting,
AskingVersions, LoggingIn, Serving, and LoggingInAnew in between. docs/architecture/clients.md is
the walk of a request.
"""
