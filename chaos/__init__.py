"""Breaks a cluster on purpose and proves what survived.

The harness judges from outside: clients, the wire, ZooKeeper and the files of the brokers, never
a broker's memory.

faults/           every fault as a value, and one table that performs them
schedules/        what is broken when: drawn from a seed, kept in a file, shrunk
runs/             a scenario from its set-up to its verdict
card/             what each client did under each fault
cli/              logquake chaos run and its like
scenarios/        what is to be done, and what must be seen, as files
history/          what everybody saw, as rows of one schema
workloads/        what clients do meanwhile: programs that tell all that they ask and are told
evidence/         what a run left behind: clients' rows, replicas' files, ZooKeeper's writes
checkers/         26 invariants over that evidence, and their verdicts with the causes
observer.py       looks at high watermarks, log ends and ISRs, again and again
report/           a run as a page to look at
hunts/            planted bugs, and whether runs catch them
plugin/           the fixtures of pytest
demo/             the tour: a million lines through a killed leader
"""
