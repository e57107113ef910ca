"""Side-by-side benchmarks of a running cluster, and of peers in the same run.

Read in this order: ``figures`` (what a run yields), ``target`` (what is measured), ``rounds`` (who
is measured when), ``warmth`` (when a target is warm), then one module per benchmark: ``startup``,
``memory``, ``produce``, ``latency``, ``consume``, ``pipelining`` with ``duplicates``, ``groups``,
``transactions`` and the folder ``security``; the folder ``libraries`` has Kafka clients for Python
beside each other, the folder ``storage`` those that need no cluster.
Load comes from ``librdkafka``, or from the clients in ``clients``. ``report`` is the output,
``__main__`` the command line. docs/benchmarks.md says how to read the numbers.

Caveat: on a shared machine only ratios within one run, and medians, mean anything.
"""
