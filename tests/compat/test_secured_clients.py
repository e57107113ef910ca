"""Client libraries that say who they are, by every mechanism, in the clear and over TLS."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.fetched import NPM_INSTALL, fetched, run_in
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.secured_brokers import (
    LIBRARIES,
    MECHANISMS,
    Brokers,
    bearers_token,
    brokers,
    for_java,
    for_librdkafka,
)
from tests.waiting import PATIENCE_S, wait_for

WAYS = [(listener, mechanism) for listener in ("OPEN", "CLOSED") for mechanism in MECHANISMS]
ALL_WAYS = [*WAYS, ("MUTUAL", None)]
IDS = [f"{listener}-{mechanism or 'certificate'}" for listener, mechanism in ALL_WAYS]
JAVA_WAYS = [
    ("OPEN", "PLAIN"),
    ("OPEN", "OAUTHBEARER"),
    ("CLOSED", "SCRAM-SHA-256"),
    ("CLOSED", "SCRAM-SHA-512"),
    ("MUTUAL", None),
]
KCAT = shutil.which("kcat") or shutil.which("kafkacat")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """Two brokers that are secured against each other, too."""
    folder = tmp_path_factory.mktemp("secured")
    with ExitStack() as stack:
        kafka = stack.enter_context(Cluster(brokers=1))
        zookeeper = own_chroot(kafka.zookeeper_connect, "secured")
        ours = stack.enter_context(brokers(folder, zookeeper, 7, 8))
        for broker_id in ours.ports:
            properties = ours.properties(broker_id, folder / f"data-{broker_id}")
            stack.enter_context(broker_by_hand(folder, properties))
        admin = AdminClient(for_librdkafka(ours, "OPEN", "PLAIN"))
        wait_for(
            "two brokers",
            lambda: admin.list_topics(timeout=5).brokers,
            lambda known: len(known) == 2,
            unready=(KafkaException,),
        )
        yield ours


@pytest.fixture
def topic(secured: Brokers, request: pytest.FixtureRequest) -> str:
    """On both brokers."""
    name = f"t{abs(hash(request.node.name))}"
    admin = AdminClient(for_librdkafka(secured, "OPEN", "PLAIN"))
    admin.create_topics([NewTopic(name, 1, 2)])[name].result(PATIENCE_S)
    return name


@pytest.mark.parametrize(("listener", "mechanism"), ALL_WAYS, ids=IDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_record_goes_there_and_back(
    secured: Brokers, topic: str, library: str, listener: str, mechanism: str | None
) -> None:
    assert LIBRARIES[library](secured, listener, mechanism, topic) == library.encode()


@pytest.mark.skipif(KCAT is None, reason="kcat is not installed")
@pytest.mark.parametrize(("listener", "mechanism"), ALL_WAYS, ids=IDS)
def test_kcat(secured: Brokers, listener: str, mechanism: str | None) -> None:
    settings = for_librdkafka(secured, listener, mechanism)
    options = [part for key, value in settings.items() for part in ("-X", f"{key}={value}")]
    listed = subprocess.run(
        [str(KCAT), "-q", "-L", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "2 brokers" in listed.stdout


@pytest.fixture(scope="module")
def kafkajs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).parent / "kafkajs"
    return fetched(source, tmp_path_factory.mktemp("node"), *NPM_INSTALL)


@pytest.mark.parametrize("listener", ["OPEN", "CLOSED"])
def test_a_bearer_of_kafkajs(secured: Brokers, kafkajs: Path, topic: str, listener: str) -> None:
    """By the other mechanisms its own tests get in: tests/suites."""
    environment = {"BROKER": secured.server(listener), "TOPIC": topic, "TOKEN": bearers_token()}
    if listener != "OPEN":
        environment["CA"] = str(secured.certificates.authority)
    status, printed = run_in(kafkajs, "node", "there_and_back.mjs", environment=environment)
    assert (status, printed) == (0, "kafkajs")


@pytest.mark.maven
@pytest.mark.parametrize(("listener", "mechanism"), JAVA_WAYS)  # a JVM each
def test_java_tools(
    secured: Brokers,
    kafka_programs: KafkaPrograms,
    tmp_path: Path,
    listener: str,
    mechanism: str | None,
) -> None:
    properties = for_java(secured, listener, mechanism)
    config = tmp_path / "client.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    found = kafka_programs.run(
        "org.apache.kafka.tools.TopicCommand",
        "--bootstrap-server",
        secured.server(listener),
        "--command-config",
        str(config),
        "--create",
        "--topic",
        f"{listener}-{mechanism}",
    )
    assert f"Created topic {listener}-{mechanism}." in found


@pytest.mark.parametrize(
    ("listener", "mechanism"), [way for way in WAYS if way[1] != "OAUTHBEARER"]
)
def test_a_wrong_password_is_told(secured: Brokers, listener: str, mechanism: str) -> None:
    told: list[KafkaError] = []
    settings = for_librdkafka(secured, listener, mechanism, password="guess")
    settings["error_cb"] = told.append
    admin = AdminClient(settings)
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=0.5)
    wait_for("word of the refusal", lambda: admin.poll(0.1) or told, bool)
    assert KafkaError._AUTHENTICATION in {error.code() for error in told}


def test_no_secret_is_in_what_a_broker_writes(secured: Brokers) -> None:
    folder = secured.certificates.authority.parent
    written = [*folder.glob("*.log"), *folder.glob("**/*.jsonl")]
    assert written
    for path in written:
        text = path.read_text()
        for secret in ("hush, alice", "among-us", "PRIVATE KEY", "stored_key"):
            assert secret not in text, path
