"""Clusters on this machine: start one, watch it, break it on purpose, end it.

api.py, cli/      ``with Cluster() as kafka`` and ``logquake up``
launcher.py       what both do to start one
supervisor/       the process that starts the others, forks the brokers, and ends them all
broker_program.py what a broker's process runs
zookeeper/, java.py   the real server, on a JVM

running.py        a cluster that runs: what can be done to it
  linked.py       what can be done to its links; links/ are the proxies that they are made of
  injected.py     what can be done to one API's requests on them, or to their answers
  inside_faults.py   what can be broken inside its brokers; flipped_bits.py
  deeds.py        what was done, when, and which of it still stands
  fault.py        one thing of that which can be undone
  waits.py        what can be waited for
  observed.py     what is known of it: its processes by control.py, what was decided by view.py
  targets.py      whom ``leader:orders/0`` means
  event_log.py    the brokers' events and output, merged
  told.py         what each broker tells of a topic
  readiness.py    what every broker says of all of them; broker_probe.py asks one
  tables.py       all that as text

faults/           what a broker does that is broken on purpose: its disk, its clock

spec.py           what is asked for, and the brokers' settings that follow
layout.py         where its files are
state.py          what runs, and how it ended: state.json, and what the supervisor answers
control.py        how the supervisor is asked
control_port/     faults and waits by HTTP, for programs in any language
ports.py, lifeline.py   ports that stay ours; children that do not outlive us
errors.py         what a user can mend
"""
