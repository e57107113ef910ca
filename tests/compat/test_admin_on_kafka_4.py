"""Our admin client beside Java's of 3.9, on brokers of Kafka 4.1: the same calls, the same answers.

Nothing but Kafka 4 speaks there, without ZooKeeper: what is refused, and what is answered since, is
held against Java's client, which speaks no newer requests than ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from logquake.cluster.api import Cluster
from tests.compat.admin_on_releases import told_to_both, unlike
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.test_admin_beside_java import ELSEWHERE, SECTIONS, kinds_but
from tests.compat.test_java_clients import PROPERTIES, Lines

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
    zookeeper, folder = cluster.zookeeper_connect, tmp_path_factory.mktemp("admin-on-4")
    return told_to_both("4.1", KRAFTS, ASKED, kafka_programs, zookeeper, folder)


@pytest.mark.parametrize("section", ASKED)
def test_each_call_gives_what_java_is_given(told: tuple[Lines, Lines], section: str) -> None:
    javas, ours = (
        {
            call: ELIGIBLE.sub("", each)
            for call, each in kinds_but(ELSEWHERE[section], of_all[section]).items()
        }
        for of_all in told
    )
    assert ours.keys() == javas.keys()
    differ = unlike(ours, javas)
    unexpected = {call: both for call, both in differ.items() if call not in DIFFERENT[section]}
    assert unexpected == {}
    assert differ.keys() == DIFFERENT[section].keys()
