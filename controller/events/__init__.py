"""What happens to a controller in office, one module an event: procedures over a Term.

brokers_changed.py      brokers came, left, came back, or listen elsewhere; replicas were lost
topics_changed.py       topics or partitions were created, or topics marked for deletion
state_written.py        a partition's state that made no sense was mended
answers.py              brokers answered LeaderAndIsr, UpdateMetadata, StopReplica
log_dirs_failed.py      a broker lost a log directory
alter_partition.py      a leader proposes a new ISR
controlled_shutdown.py  a broker wants to leave
producer_ids.py         a broker asks for a block of producer ids
create_topics.py        a client creates topics
delete_topics.py        a client deletes topics
leader_rebalance.py     leadership goes back to preferred replicas
"""
