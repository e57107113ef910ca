"""A follower's side of replication: one fetcher for each broker that leads something followed here.

``followed`` is one partition's position, ``session`` names to the leader only what changed,
``truncation`` and ``offset_reset`` repair a log that parted from the leader's, ``fetcher`` runs
the loop of one leader, ``pool`` keeps the fetchers (Kafka's AbstractFetcherThread,
FetchSessionHandler, ReplicaFetcherManager; here without threads).
"""
