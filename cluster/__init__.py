"""Clusters on this machine: start one, watch it, break it on purpose, end it.

api.py, cli/      ``with Cluster() as kafka`` and ``logquake up``
launcher.py       what both do to start one
control_port/     deeds and waits by HTTP, for programs in any language
running/          a cluster that runs, as an object
  running/cluster.py  what can be done to its processes
  linked.py         to its links; links/ are the proxies that they are made of
  injected.py       to one API's requests on them, or to their answers
  inside_faults.py  inside its brokers; flipped_bits.py, power_loss.py
  running/membership.py  who is in it
  deeds.py          what was done, when, and which of it still stands
  fault.py          one thing of that which can be undone
  waits.py          what can be waited for
  observed.py       what is known of it
supervisor/       the process that starts the others, forks the brokers, and ends them all
faults/           what a broker does that is broken on purpose: its disk, its clock
links/            proxies between all that belong to a cluster
observing/        what is known from outside
  view.py           what was decided, by ZooKeeper
  told.py           what each broker tells of a topic
  readiness.py      what every broker says of all of them; broker_probe.py asks one
  broker_connections.py  what only one broker can say; all else an admin client is told
  observing/coordinated.py  groups and transactions
  observing/groups.py   groups as values; group_progress.py how far they are
  observing/log_offsets.py  where logs begin and end
  offset_resets.py  where a group shall go on
  planned_resets.py that, by what the logs hold
  set_configs.py    what was set while brokers ran
  onlookers.py      the name under which tools ask
  event_log.py      the brokers' events and output, merged
  observing/targets.py  whom ``leader:orders/0`` means
  observing/tables.py   all that as text
kafka/            Apache Kafka's brokers in the place of ours: where its jars are, its JVM
zookeeper/        the real server, on a JVM
security/         keys, certificates and users of a cluster that is launched secure
control/          how the supervisor is asked, and answers
processes/        what they all stand on
  broker_program.py what a broker's process runs
  ports.py          ports that stay ours
  lifeline.py       children that do not outlive us
  java.py           which Java there is
spec.py           what is asked for, and the brokers' settings that follow
layout.py         where its files are
state.py          what runs, and how it ended: state.json, and what the supervisor answers
errors.py         what a user can mend
"""
