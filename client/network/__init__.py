"""The network core of every client, without I/O: no socket, no thread, no clock of its own.

    metadata_updates.py  asking for metadata when it is time
    metadata.py          what is known of the cluster, and when that is; snapshot.py: at one moment
                         topics_in_use.py: about which topics; moved_leaders.py: told amid answers
                         partitions.py: a topic's partitions, as programs get them
                         coordinator_lookups.py: FindCoordinator, in each version
    network_client.py    who may be asked, and asking them; load.py: whom, if anybody will do
    links.py             all connections: what a driver tells, and what it is to do (effects.py)
                         link_log.py: what is logged of their ends
    dialogue.py          what is said on one, and in what order
                         versions.py: its first question; throttling.py: how long to leave it alone
    node_states.py       what is remembered of a broker from one connection to the next
                         addresses.py: of its host; backoff.py: how long to wait
    link.py              one life of one connection; frames.py: what it receives
    pending_answers.py   answers that wait to be told
    settings.py          Kafka's names for its bounds

A link's stages are types, in the order in which they come: Resolving, Connecting,
AskingVersions, LoggingIn, Serving, and LoggingInAnew in between. docs/architecture/clients.md is
the walk of a request.
"""
