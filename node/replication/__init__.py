"""Replication: what a broker knows of its replicas, and the rules by which data becomes committed.

Reading order: ``isr`` and ``progress`` (the states), ``in_sync`` and ``high_watermark`` (the pure
rules over them), ``leader``, ``follower`` and ``partition`` (the roles and the moves between
them), ``alter_partition`` (the controller's word on ISR changes), ``fetcher/`` (a follower's side
of replication), ``fetch_sessions`` and the two purgatories (a leader's side), and
``replica_manager``, the facade that handlers and the broker use through the values of ``api``.

Everything runs on one loop without locks; time comes from the scheduler, bytes through
storage's Log, other brokers through the Network port.

Caveats: no transactions yet (the last stable offset is the high watermark), no follower
throttling, no tiered storage, one log directory.
"""
