"""The elected controller: what it decides, and the one queue through which it decides.

    controller.py     the candidate that every broker hosts: requests, watches, session events
    office/           who is in office; one event at a time; the first acts of a term
    events/           what happens in a term, one module an event
    state_machines/   decisions written and told: partitions, replicas, the deletion of topics
    term.py           what a controller has from its election to its end
    channels/         what brokers are told, and which of them can be reached
    zookeeper/        what is read and written there, under the guard of the controller's epoch
    context/          what is known of the cluster
    rules/            decisions, pure
    journal_events.py what it records, each with its cause
    settings.py, statistics.py

Imports go down this list only. Decisions are functions over values, without ZooKeeper, network or
clock. What is decided is written under the guard of the controller's epoch first, taken into the
context then, told last.
"""
