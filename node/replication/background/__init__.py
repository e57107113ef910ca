"""What happens to replicas by time, most of it on worker threads (Kafka's background.threads).

tasks.py            all of it, and when it is due
isr_expiration.py   followers that lag leave the ISR
checkpoints.py      writes them; high_watermarks.py is what one of them says
log_flusher.py      syncs after a roll and by flush.ms
retention_check.py  old segments go; file_removal.py frees their space later
sliced_round.py     work over all partitions that leaves the loop to others in between
topic_ids.py        partition.metadata of new logs, written beside the loop
"""
