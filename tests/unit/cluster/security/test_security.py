"""What a cluster is secured with: made once, kept to its owner, understood by a broker."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from logquake.cluster.cli.connecting import show_how_to_connect
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.security.cluster_security import (
    MECHANISM,
    ClusterSecurity,
    read_security,
    settle_security,
)
from logquake.cluster.spec import ClusterSpec, broker_properties
from logquake.node.authentication.scram import ScramCredential
from logquake.node.process.doors import Doors
from logquake.node.settings import BrokerSettings


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.fixture
def security(layout: Layout) -> ClusterSecurity:
    made = settle_security(layout, secure=True)
    assert made is not None
    return made


def test_it_is_made_once(layout: Layout, security: ClusterSecurity) -> None:
    assert settle_security(layout, secure=True) == read_security(layout) == security


def test_of_a_cluster_that_is_open_to_all_nothing_stays(
    layout: Layout, security: ClusterSecurity
) -> None:
    assert settle_security(layout, secure=False) is None
    assert not security.folder.exists()
    assert read_security(layout) is None


def test_its_owner_alone_may_read_it(security: ClusterSecurity) -> None:
    assert stat.S_IMODE(security.folder.stat().st_mode) == 0o700
    for path in security.folder.iterdir():
        wanted = 0o644 if path == security.authority else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_passwords_differ_and_are_not_shown(security: ClusterSecurity) -> None:
    assert security.user.password != security.broker.password
    assert security.user.password not in repr(security)


def test_a_damaged_file_says_what_to_do(layout: Layout, security: ClusterSecurity) -> None:
    (security.folder / "users.json").write_text("{}")
    with pytest.raises(ClusterError, match="logquake down, then up --secure"):
        read_security(layout)


def test_a_broker_understands_it(security: ClusterSecurity) -> None:
    properties = broker_properties(
        ClusterSpec(secure=True),
        1,
        port=9092,
        zookeeper="127.0.0.1:2181",
        data=[security.folder],
        security=security.broker_properties(9092),
    )
    settings = BrokerSettings.from_properties(properties)
    assert (settings.without_effect, settings.unknown) == ((), ())
    doors = Doors.of(settings.security)
    assert settings.security.uses_scram
    assert list(doors.contexts) == ["SASL_SSL"]
    assert doors.link_context is not None


def test_the_credential_is_of_the_password(security: ClusterSecurity) -> None:
    text = security.user_configs()["logquake"][MECHANISM.value]
    kept = ScramCredential.decode(text)
    salted = MECHANISM.salted_password(security.user.password, kept.salt, kept.iterations)
    assert ScramCredential.of(MECHANISM, salted, kept.salt, kept.iterations) == kept


def test_each_kind_of_client_is_told(
    security: ClusterSecurity, capsys: pytest.CaptureFixture[str]
) -> None:
    show_how_to_connect("h:1", security)
    told = capsys.readouterr().out
    for part in (
        "security.protocol=SASL_SSL",
        "'bootstrap.servers': 'h:1', 'security.protocol': 'SASL_SSL'",
        "kafka_config()",
        "-X sasl.mechanism=SCRAM-SHA-512",
        "sasl_mechanism='SCRAM-SHA-512'",
        security.java_properties.name,
    ):
        assert part in told
    assert told.count(security.user.password) == 5
