r"""The command line: ``logquake up``, ``status``, ``kill leader:orders/0``, ``down``.

    app.py        the commands' tree, errors to exit statuses
    options.py    options that several commands share
    admin.py      the clients by which commands ask brokers
    lifecycle.py  up, down, status, env; status.py: what status shows
    connecting.py how clients get into a secure cluster
    foreground.py signals of an ``up`` that stays
    members.py    kill, stop, pause, resume, start, restart
    brokers.py    broker
    faults.py     fault: links; inside.py: brokers; coordination.py: what ZooKeeper has of them
    request_faults.py fault error, fault request
    standing.py   faults that outlast their commands
    logs.py       logs
    topics.py     topic create, list, describe
    configs.py    topic config, configs
    groups.py     group list, describe, reset-offsets, delete
    group_resets.py what it does
    times.py      how long, and when
    produce.py    produce
    record_input.py lines to records, records to partitions
    consume.py    consume
    consuming.py  what it reads, alone or as a member of a group
    record_output.py where to, and how many
    record_format.py formats, JSON
    escapes.py    \t and its like
    progress.py   how many there were
    unanswered.py that no broker answers yet
    log_files.py  log dump, log verify
    log_verify.py what log verify says
    output.py     tables

Help must come at once, so a command's module imports what it needs when it runs. Statuses: 0 done,
1 what was looked at is not sound, 2 a fault of the surroundings or the usage, in one line.
"""

from logquake.cluster.cli.app import main

__all__ = ["main"]
