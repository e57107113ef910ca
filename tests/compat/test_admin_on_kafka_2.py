"""Our admin client beside Java's of 3.9, on brokers of Kafka 2.4: the same calls, the same answers.

Many requests are not spoken there, or in older versions: what is refused then, and what is asked in
another way, is held against Java's client.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from logquake.cluster.api import Cluster
from tests.compat.admin_on_releases import told_to_both, unlike
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.test_admin_beside_java import ELSEWHERE, SECTIONS, kinds_but
from tests.compat.test_java_clients import PROPERTIES, Lines

pytestmark = [pytest.mark.maven, pytest.mark.slow]

# In the others the Java program waits for what 2.4 does not speak.
ASKED = [each for each in SECTIONS if each not in ("users", "transactions")]
# What our client gives in another way, by section: the call, and why.
DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "topics": {},
    "configs": {},
    "machines": {},
    "groups": {
        "list [][Classic]": "such a broker has no others; Java's of 4.0 asks it, too",
        "stable offsets of some": "Java's takes those that may change",
    },
}


@pytest.fixture(scope="module")
def told(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lines, Lines]:
    zookeeper, folder = cluster.zookeeper_connect, tmp_path_factory.mktemp("admin-on-2")
    return told_to_both("2.4", PROPERTIES, ASKED, kafka_programs, zookeeper, folder)


@pytest.mark.parametrize("section", ASKED)
def test_each_call_gives_what_java_is_given(told: tuple[Lines, Lines], section: str) -> None:
    javas, ours = (kinds_but(ELSEWHERE[section], each[section]) for each in told)
    assert ours.keys() == javas.keys()
    differ = unlike(ours, javas)
    unexpected = {call: both for call, both in differ.items() if call not in DIFFERENT[section]}
    assert unexpected == {}
    assert differ.keys() == DIFFERENT[section].keys()
