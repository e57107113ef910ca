"""Suites that the authors of clients wrote: ``python -m tests.suites NAME``, without a name a list.

A suite runs against a cluster of its own, with ``--kafka`` against Kafka's own brokers in its place
(from the jars that LOGQUAKE_KAFKA_LIBS names), or with ``--against HOST:PORT`` against what listens
there. What each of its tests did is held against the list that is kept here (``lists/NAME.txt``);
``--write`` writes it anew, and then whatever did not pass wants a reason. Ends with 1 where the
list is not true.

Two more lists are of suites that were run by hand from their repositories, as they start brokers in
containers: of aiokafka 0.14.0, with fixtures ``kafka_server`` and ``setup_test_class`` that name a
broker that runs, without TLS, SASL and Kerberos; and of confluent-kafka-python 2.15.0, whose
integration tests take ``BROKERS=HOST:PORT``.
"""

from __future__ import annotations

import argparse
import sys

from tests.suites.kept import differences, kept_list, without, written
from tests.suites.known import SUITES, run


def main() -> int:
    options = _parser().parse_args()
    if options.suite is None:
        for name, suite in SUITES.items():
            print(f"{name:15} {suite.what}")
        return 0
    suite, only = SUITES[options.suite], options.only
    outcomes = run(suite, options.against, kafkas=options.kafka, only=only)
    kept = kept_list(options.suite)
    others = {} if only is None else without(outcomes, kept.read())
    if options.write:
        kept.write({**others, **written(outcomes, kept)})
        return 0
    wrong = list(differences(outcomes, without(others, kept.read())))
    print(*wrong, sep="\n")
    print(f"{len(outcomes)} tests of {options.suite}, {len(wrong)} not as the list says")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.suites", description=__doc__)
    parser.add_argument("suite", nargs="?", choices=sorted(SUITES))
    parser.add_argument("--against", metavar="HOST:PORT")
    parser.add_argument("--kafka", action="store_true", help="against Kafka's own brokers")
    parser.add_argument("--only", metavar="WHICH", help="as the suite's own runner selects tests")
    parser.add_argument("--write", action="store_true", help="write the list from this run")
    return parser


if __name__ == "__main__":
    sys.exit(main())
