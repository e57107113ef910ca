"""Our admin client beside Java's of 3.9, on brokers of Kafka 4.1: the same calls, the same answers.

Nothing but Kafka 4 speaks there, without ZooKeeper: what is refused, and what is answered since, is
held against Java's client, which speaks no newer requests than ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.releases import releases
from tests.compat.test_admin_beside_java import ELSEWHERE, SECTIONS, kinds_but, said_by_ours
from tests.compat.test_java_clients import PROPERTIES, RUN_S, SOURCES, Lines, sections_of

pytestmark = [pytest.mark.maven, pytest.mark.slow]

# What of transactions is there to see differs: it is told of in what 3.9 is told.
ASKED = [each for each in SECTIONS if each != "transactions"]
KRAFTS = {
    **PROPERTIES,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}
# Leaders that could be elected though they are out of the ISR (KIP-966) ours does not ask for.
ELIGIBLE = re.compile(r"elr=(N/A)?, lastKnownElr=(N/A)?")

_OF_KRAFT = "what only KRaft's clusters answer is refused without asking"

# What our client gives in another way, by section: the call, and why.
DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "topics": {},
    "configs": {"describe resources of client metrics": _OF_KRAFT},
    "users": {},
    "machines": {
        "describe features": "written in the order of a Java map",
        "describe the quorum": _OF_KRAFT,
        "unregister a broker": _OF_KRAFT,
        "add a voter": _OF_KRAFT,
    },
    "groups": {},
}


@pytest.fixture(scope="module")
def told(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lines, Lines]:
    """Java's, and ours, each on a broker that nobody has asked anything."""
    with ExitStack() as brokers:
        for_java, for_ours = (
            brokers.enter_context(
                releases(tmp_path_factory.mktemp(name), cluster.zookeeper_connect, KRAFTS)
            )["4.1"]
            for name in ("java", "python")
        )
        java = kafka_programs.compiled(SOURCES)
        threads = brokers.enter_context(ThreadPoolExecutor(1))
        ours = threads.submit(said_by_ours, for_ours.port, ASKED)
        done = java.complete("JavaClients", *ASKED, f"127.0.0.1:{for_java.port}", timeout_s=RUN_S)
        assert done.returncode == 0, done.stderr
        return dict(sections_of(done.stdout)), ours.result(RUN_S)


@pytest.mark.parametrize("section", ASKED)
def test_each_call_gives_what_java_is_given(told: tuple[Lines, Lines], section: str) -> None:
    javas, ours = (kinds_but(ELSEWHERE[section], each[section]) for each in told)
    assert ours.keys() == javas.keys()
    differ = {
        call: (ours[call], javas[call])
        for call in ours
        if ELIGIBLE.sub("", ours[call]) != ELIGIBLE.sub("", javas[call])
    }
    unexpected = {call: both for call, both in differ.items() if call not in DIFFERENT[section]}
    assert unexpected == {}
    assert differ.keys() == DIFFERENT[section].keys()
