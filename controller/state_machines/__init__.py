"""Decisions written and told: Kafka's two state machines, and the deletion of topics.

partition_state_machine.py  a partition goes online by the election of a leader
replica_state_machine.py    a replica goes offline out of its ISR, or is deleted
topic_deletion_manager.py   a topic goes, from the mark in ZooKeeper until nothing of it is left
unclean_topics.py           which topics let a replica from outside of the ISR lead
"""
