"""The pytest plugin: real clusters for tests, broken on purpose, clean again for the next test.

hooks.py          what pytest loads: options, markers, fixtures; imports nothing that takes time
asked.py          what a test's markers ask for
awaitable.py      a cluster for tests that are coroutines
tested.py         the cluster of a test
client_history.py what its clients were told, and did under each fault
acked_loss.py     what of that a topic's leaders do not have
pool.py           the clusters of one session, lent to tests
baseline.py       what is in a cluster before a test
reset.py          back to that, or the cluster is given up
heard.py          whether each broker has heard of it
tally.py          how many clusters, how long resets took
failure_report.py what a failed test is told with, and the folder that is kept
topic_names.py    the topic of a test

Caveats: a reset takes away what the test left in brokers and ZooKeeper, not its clients; one that
lives on and joins its group again makes the cluster be given up. What quotas and users were changed
to is not undone either, but by a new cluster.
"""
