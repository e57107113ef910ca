"""What happens to replicas by time, most of it on worker threads.

upkeep.py            all of it; ticks.py: the timers
log_flushes.py       syncs after a roll and by flush.ms
checkpoints.py       writes them; high_watermarks.py is what one of them says
retention.py         old segments go; file_removal.py frees their space later
log_dir_sizes.py     for DescribeLogDirs
"""
