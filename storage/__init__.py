"""One partition's log on disk, in Kafka 3.9's files, and the directories that hold many of them.

    disk/        the seam, the machine's disk behind it, and one in memory that fails on demand
    segments/    .log files with their sparse indexes
    producers/   what a log knows of its producers and their transactions, and the .snapshot files
    cleaner/     compaction, as far as it can be done beside a log in use
    log/         one partition: stage, commit, read, truncate, sync, recover, retain, swap in
    dirs/        the entries of log.dirs: locks, owners, checkpoints, copies on the move
    dump/        files as text
    verify/      is a directory sound

Imports go from a later folder to an earlier one; `make check` proves it. The modules beside the
folders are what several of them speak: names, the formats of small files, a log's settings, errors.

Power loss: what sync() covered survives, whatever pages and folder changes the disk dropped after
it; tests/storage cuts the power at every change and checks.
"""
