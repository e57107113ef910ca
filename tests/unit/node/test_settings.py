"""Kafka's keys in, values out; and what is said about values that are not allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.quotas.measures import Windows
from logquake.node.quotas.quotas import QuotaSettings
from logquake.node.requests.pipelining import ProducePipelining
from logquake.node.settings import (
    BrokerSettings,
    SettingsError,
    parse_properties,
    read_properties,
)
from logquake.node.topics.auto_creation import TopicShape
from logquake.storage.log_config import NEVER, TimestampType
from logquake.wire.compression import Codec
from logquake.wire.listeners import PLAINTEXT

INTERNAL = ("__consumer_offsets", "__transaction_state")
REQUIRED = {"broker.id": "1", "zookeeper.connect": "127.0.0.1:2181"}


def settings(**keys: str) -> BrokerSettings:
    """Keys are written with '_' for '.'."""
    properties = {key.replace("_", "."): value for key, value in keys.items()}
    return BrokerSettings.from_properties(REQUIRED | properties)


class TestProperties:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("a=b", {"a": "b"}),
            ("a = b ", {"a": "b "}),
            ("a:b", {"a": "b"}),
            ("a b", {"a": "b"}),
            ("a", {"a": ""}),
            ("  a==b", {"a": "=b"}),
            (r"a\=b=c", {"a=b": "c"}),
            (r"a\ b c", {"a b": "c"}),
            (r"a=C:\\logs\tnew", {"a": "C:\\logs\tnew"}),
            (r"a=\u00e9\z", {"a": "éz"}),
            ("a=b#c", {"a": "b#c"}),
            ("# a=b\n! c=d\n\n  # e=f", {}),
            ("a=b,\\\n   c,\\\r\n\td", {"a": "b,c,d"}),
            ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
            ("a=1\na=2", {"a": "2"}),
            ("a=b\\", {"a": "b"}),
        ],
    )
    def test_lines_mean_what_java_says(self, line: str, expected: dict[str, str]) -> None:
        assert parse_properties(line) == expected

    def test_a_file_that_is_not_there_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"cannot read .*server\.properties: No such file"):
            read_properties(tmp_path / "server.properties")

    def test_a_file_that_is_no_text_is_one_line(self, tmp_path: Path) -> None:
        path = tmp_path / "server.properties"
        path.write_bytes(b"a=\xff\xfe")
        with pytest.raises(SettingsError, match="no UTF-8"):
            read_properties(path)


class TestValues:
    def test_kafkas_defaults_hold_where_nothing_is_set(self) -> None:
        got = settings()
        assert got.broker_id == 1
        assert got.zookeeper.session_timeout_ms == 18_000
        assert got.zookeeper.connection_timeout_ms == 18_000
        assert got.connections.max_request_bytes == 104_857_600
        assert got.connections.max_idle_ms == 600_000
        assert got.replication.replica_lag_time_max_ms == 30_000
        assert got.replication.topic_defaults.log.segment_bytes == 1 << 30
        assert got.replication.topic_defaults.log.flush_messages == NEVER
        assert got.controller.num_partitions == 1
        assert not got.controller.failover_on_refusal
        assert got.auto_creation.enabled
        assert got.log_dirs == ("/tmp/kafka-logs",)
        assert got.unknown == got.without_effect == ()

    def test_coordinators_topics_have_kafkas_defaults(self) -> None:
        got = settings().auto_creation
        assert got.shape_of("__consumer_offsets") == TopicShape(
            50,
            3,
            {
                "compression.type": "producer",
                "cleanup.policy": "compact",
                "segment.bytes": "104857600",
            },
        )
        assert got.shape_of("__transaction_state") == TopicShape(
            50,
            3,
            {
                "unclean.leader.election.enable": "false",
                "compression.type": "uncompressed",
                "cleanup.policy": "compact",
                "min.insync.replicas": "2",
                "segment.bytes": "104857600",
            },
        )
        assert got.shape_of("__share_group_state") == got.shape_of("orders") == TopicShape(1, 1)

    def test_coordinators_topics_have_keys_of_their_own(self) -> None:
        got = settings(
            offsets_topic_num_partitions="7",
            offsets_topic_replication_factor="2",
            offsets_topic_segment_bytes="9000",
            transaction_state_log_num_partitions="5",
            transaction_state_log_replication_factor="4",
            transaction_state_log_min_isr="3",
            transaction_state_log_segment_bytes="8000",
        )
        assert got.without_effect == got.unknown == ()
        offsets, transactions = (got.auto_creation.internal[name] for name in INTERNAL)
        assert (offsets.partitions, offsets.replication_factor) == (7, 2)
        assert offsets.config["segment.bytes"] == "9000"
        assert (transactions.partitions, transactions.replication_factor) == (5, 4)
        assert transactions.config["min.insync.replicas"] == "3"
        assert transactions.config["segment.bytes"] == "8000"

    def test_the_connection_time_out_follows_the_sessions(self) -> None:
        assert settings(zookeeper_session_timeout_ms="2000").zookeeper.connection_timeout_ms == 2000

    @pytest.mark.parametrize(
        ("keys", "segment_ms"),
        [
            ({}, 604_800_000),
            ({"log_roll_hours": "2"}, 7_200_000),
            ({"log_roll_hours": "2", "log_roll_ms": "5"}, 5),
        ],
    )
    def test_the_finer_unit_wins(self, keys: dict[str, str], segment_ms: int) -> None:
        assert settings(**keys).replication.topic_defaults.log.segment_ms == segment_ms

    @pytest.mark.parametrize(
        ("keys", "retention_ms"),
        [
            ({}, 604_800_000),
            ({"log_retention_hours": "2"}, 7_200_000),
            ({"log_retention_hours": "2", "log_retention_minutes": "3"}, 180_000),
            ({"log_retention_minutes": "3", "log_retention_ms": "5"}, 5),
            ({"log_retention_hours": "-1"}, -1),
            ({"log_retention_minutes": "-7"}, -1),
        ],
    )
    def test_retention_in_any_unit(self, keys: dict[str, str], retention_ms: int) -> None:
        assert settings(**keys).replication.topic_defaults.log.retention_ms == retention_ms

    def test_the_life_of_segments(self) -> None:
        got = settings(
            log_roll_jitter_hours="1",
            log_retention_bytes="1000",
            log_segment_delete_delay_ms="7",
            log_cleanup_policy="compact",
            log_retention_check_interval_ms="9",
        )
        log = got.replication.topic_defaults.log
        assert (log.segment_jitter_ms, log.retention_bytes) == (3_600_000, 1_000)
        assert (log.file_delete_delay_ms, log.deleted, log.compacted) == (7, False, True)
        assert got.replication.retention_check_interval_ms == 9

    def test_what_topics_inherit(self) -> None:
        got = settings(
            min_insync_replicas="2",
            unclean_leader_election_enable="TRUE",
            log_message_timestamp_type="LogAppendTime",
            log_cleanup_policy="compact, delete",
            message_max_bytes=" 100 ",
        )
        topics = got.replication.topic_defaults
        assert topics.min_insync_replicas == 2
        assert topics.unclean_leader_election
        assert got.controller.unclean_leader_election_enable
        assert topics.log.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        assert topics.log.compacted
        assert topics.log.max_message_bytes == 100

    def test_how_topics_compress(self) -> None:
        log = settings().replication.topic_defaults.log
        assert (log.compression, log.gzip_level, log.lz4_level, log.zstd_level) == (None, -1, 9, 3)
        got = settings(
            compression_type="zstd",
            compression_zstd_level="-7",
            compression_gzip_level="9",
            log_message_downconversion_enable="false",
        )
        topics = got.replication.topic_defaults
        assert (topics.log.compression, topics.log.zstd_level) == (Codec.ZSTD, -7)
        assert topics.log.gzip_level == 9
        assert not topics.message_downconversion
        plain = settings(compression_type="uncompressed").replication.topic_defaults.log
        assert plain.compression is Codec.NONE

    def test_log_dirs_goes_before_log_dir(self) -> None:
        assert settings(log_dir="/a", log_dirs="/c/../b, /d").log_dirs == ("/b", "/d")
        assert settings(log_dir="/a").log_dirs == ("/a",)

    @pytest.mark.parametrize(
        ("keys", "bound"),
        [
            ({}, 512 * 1024 * 1024),
            ({"queued_max_request_bytes": "-1"}, 512 * 1024 * 1024),
            ({"queued_max_request_bytes": "200000000"}, 200_000_000),
            ({"logquake_queued_max_request_bytes": "300000000"}, 300_000_000),
            ({"socket_request_max_bytes": "2000000000"}, 2_000_000_000),
        ],
    )
    def test_the_memory_of_requests_is_bounded_also_by_default(
        self, keys: dict[str, str], bound: int
    ) -> None:
        assert settings(**keys).connections.max_queued_bytes == bound

    def test_produce_is_pipelined_for_idempotent_producers_unless_told_otherwise(self) -> None:
        assert settings().produce_pipelining is ProducePipelining.IDEMPOTENT
        got = settings(logquake_produce_pipelining="all")
        assert got.produce_pipelining is ProducePipelining.ALL

    def test_flush_ms_is_the_checks_interval_unless_it_is_set(self) -> None:
        def flush_ms(**keys: str) -> int:
            return settings(**keys).replication.topic_defaults.log.flush_ms

        assert flush_ms() == NEVER
        assert flush_ms(log_flush_scheduler_interval_ms="2000") == 2000
        every = {"log_flush_scheduler_interval_ms": "2000", "log_flush_interval_ms": "500"}
        assert flush_ms(**every) == 500

    def test_links_wait_as_long_as_the_more_patient_of_their_users(self) -> None:
        got = settings(replica_socket_timeout_ms="1000", controller_socket_timeout_ms="2000")
        assert got.links.request_timeout_ms == 2000

    def test_failover_on_refusal_has_keys_of_its_own(self) -> None:
        got = settings(
            logquake_failover_on_refusal="true",
            logquake_failover_reconnect_backoff_ms="10",
            logquake_failover_reconnect_backoff_max_ms="20",
            logquake_failover_connect_timeout_ms="30",
        ).controller
        assert got.failover_on_refusal
        assert got.failover_reconnect_backoff_ms == 10
        assert got.failover_reconnect_backoff_max_ms == 20
        assert got.failover_connect_timeout_ms == 30

    def test_use_is_measured_over_windows_of_time(self) -> None:
        default = settings()
        assert default.quotas == QuotaSettings()
        assert default.replication.throttle_windows == Windows(11, 1_000)
        told = settings(
            quota_window_num="3",
            controller_quota_window_size_seconds="2",
            replication_quota_window_num="4",
            leader_replication_throttled_rate="5",
            logquake_quota_max_clients="6",
        )
        assert told.quotas == QuotaSettings(Windows(3, 1_000), Windows(11, 2_000), max_clients=6)
        assert told.replication.throttle_windows == Windows(4, 1_000)
        assert told.replication.leader_max_bytes_per_second == 5

    def test_offsets_are_kept_as_kafkas_keys_say(self) -> None:
        assert settings().offsets == OffsetSettings()
        got = settings(
            offset_metadata_max_bytes="1",
            offsets_load_buffer_size="2",
            offsets_retention_minutes="3",
            offsets_retention_check_interval_ms="4",
            offsets_topic_compression_codec="2",
            offsets_commit_timeout_ms="5",
            offsets_commit_required_acks="3",
        )
        assert got.offsets == OffsetSettings(1, 2, 180_000, 4, Codec.SNAPPY, 5, 3)
        assert got.without_effect == ()

    def test_transactions_are_verified_unless_told_otherwise(self) -> None:
        default, told = (
            settings(),
            settings(
                transaction_partition_verification_enable="false",
                logquake_transaction_verification_max_bytes="5",
            ),
        )
        verified = [
            got.replication.topic_defaults.log.transactions_verified for got in (default, told)
        ]
        assert verified == [True, False]
        assert default.replication.verification_max_bytes == 64 * 1024 * 1024
        assert told.replication.verification_max_bytes == 5
        assert told.without_effect == told.unknown == ()

    def test_keys_of_transactions(self) -> None:
        assert settings().transactions == TransactionSettings()
        assert settings(
            transaction_max_timeout_ms="1",
            transaction_abort_timed_out_transaction_cleanup_interval_ms="2",
            transactional_id_expiration_ms="3",
            transaction_remove_expired_transaction_cleanup_interval_ms="4",
            request_timeout_ms="5",
            transaction_state_log_load_buffer_size="6",
        ).transactions == TransactionSettings(1, 2, 3, 4, 5, 6)

    def test_an_empty_value_is_the_default(self) -> None:
        assert settings(broker_rack="", num_partitions="").rack is None

    def test_keys_without_effect_and_unknown_keys_are_kept_apart(self) -> None:
        got = settings(num_io_threads="8", log_segment_bites="1")
        assert got.without_effect == ("num.io.threads",)
        assert got.unknown == ("log.segment.bites",)


class TestRefusals:
    @pytest.mark.parametrize(
        "keys",
        [
            {"compression_type": "brotli"},
            {"compression_gzip_level": "0"},
            {"compression_gzip_level": "10"},
            {"compression_lz4_level": "18"},
            {"compression_zstd_level": "23"},
            {"logquake_downconversion_max_bytes": "-1"},
            {"logquake_produce_pipelining": "some"},
        ],
    )
    def test_codecs_and_levels_that_do_not_exist(self, keys: dict[str, str]) -> None:
        with pytest.raises(SettingsError, match="is not allowed"):
            settings(**keys)

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            (
                {"num_partitions": "many"},
                "num.partitions=many is not allowed: a whole number from 1 to 2147483647 is",
            ),
            (
                {"num_partitions": "0"},
                "num.partitions=0 is not allowed: a whole number from 1 to 2147483647 is",
            ),
            ({"broker_id": "-1"}, "a whole number from 0"),
            ({"broker_id": ""}, "broker.id is not set"),
            ({"zookeeper_connect": " "}, "zookeeper.connect is not set"),
            ({"default_replication_factor": "32768"}, "a whole number from 1 to 32767"),
            ({"offsets_topic_compression_codec": "5"}, "a whole number from 0 to 4"),
            (
                {"offsets_commit_required_acks": "4"},
                "-1 to offsets.topic.replication.factor (3)",
            ),
            (
                {"delete_topic_enable": "yes"},
                "delete.topic.enable=yes is not allowed: true or false is",
            ),
            (
                {"log_message_timestamp_type": "Now"},
                "log.message.timestamp.type=Now is not allowed: CreateTime or LogAppendTime is",
            ),
            ({"log_cleanup_policy": "shred"}, "log.cleanup.policy=shred"),
            ({"log_roll_hours": "9999999999999999"}, "log.roll.hours=9999999999999999"),
            ({"log_dirs": ","}, "log.dirs"),
            ({"log_dirs": "/a,/a/"}, "log.dirs=/a,/a is not allowed: one or more paths, each once"),
            (
                {"queued_max_request_bytes": "1000"},
                "queued.max.request.bytes=1000 is not allowed: "
                "at least socket.request.max.bytes (104857600) is",
            ),
            (
                {"replica_lag_time_max_ms": "100"},
                "replica.lag.time.max.ms=100 is not allowed: "
                "at least replica.fetch.wait.max.ms (500) is",
            ),
            ({"replica_socket_timeout_ms": "499"}, "replica.socket.timeout.ms=499"),
            ({"offsets_topic_num_partitions": "0"}, "offsets.topic.num.partitions=0"),
            ({"offsets_topic_replication_factor": "32768"}, "from 1 to 32767"),
            ({"transaction_max_timeout_ms": "0"}, "transaction.max.timeout.ms=0"),
            ({"transactional_id_expiration_ms": "0"}, "transactional.id.expiration.ms=0"),
            ({"transaction_state_log_min_isr": "0"}, "transaction.state.log.min.isr=0"),
            ({"transaction_state_log_segment_bytes": "0"}, "segment.bytes=0"),
            ({"num_partitions": "1\n2"}, r"num.partitions=1\n2 is not allowed"),
        ],
    )
    def test_one_line_names_the_key_and_what_is_allowed(
        self, keys: dict[str, str], message: str
    ) -> None:
        with pytest.raises(SettingsError) as caught:
            settings(**keys)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


class TestListeners:
    def test_the_default_is_kafkas(self) -> None:
        [listener] = settings().listeners.listeners
        assert str(listener) == "PLAINTEXT://:9092"

    def test_several_listeners_with_a_map(self) -> None:
        got = settings(
            listeners="internal://127.0.0.2:9092,EXTERNAL://[::1]:9093",
            advertised_listeners="INTERNAL://127.0.0.2:9092,EXTERNAL://example.org:19093",
            listener_security_protocol_map="INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
            inter_broker_listener_name="INTERNAL",
        ).listeners
        assert [str(one) for one in got.listeners] == [
            "INTERNAL://127.0.0.2:9092",
            "EXTERNAL://[::1]:9093",
        ]
        assert str(got.advertised[1]) == "EXTERNAL://example.org:19093"
        assert got.inter_broker_listener().port == 9092
        assert got.source_host() == "127.0.0.2"

    def test_other_brokers_are_dialled_where_a_route_says(self) -> None:
        got = settings(logquake_network_routes="a:1=127.0.0.1:2, b.example.org:3=c:4")
        assert got.links.connect.routes == {
            ("a", 1): ("127.0.0.1", 2),
            ("b.example.org", 3): ("c", 4),
        }
        assert settings().links.connect.routes == {}

    @pytest.mark.parametrize("routes", ["a:1", "a:1=b", "a=b:1", "a:1=b:0", "a:1=b:70000", "=b:1"])
    def test_a_route_is_two_addresses(self, routes: str) -> None:
        with pytest.raises(SettingsError, match="HOST:PORT=HOST:PORT"):
            settings(logquake_network_routes=routes)

    def test_ports_and_names_that_are_known_only_after_binding(self) -> None:
        got = settings(listeners="PLAINTEXT://:0").listeners
        resolved = got.resolved({PLAINTEXT: 4711}, lambda: "here.example.org")
        assert str(resolved.advertised[0]) == "PLAINTEXT://here.example.org:4711"
        assert str(resolved.inter_broker_listener()) == "PLAINTEXT://here.example.org:4711"

    def test_what_is_advertised_stays_when_the_bound_port_differs(self) -> None:
        got = settings(
            listeners="PLAINTEXT://0.0.0.0:9092", advertised_listeners="PLAINTEXT://proxy:1234"
        ).listeners
        resolved = got.resolved({PLAINTEXT: 9092}, lambda: "here")
        assert str(resolved.advertised[0]) == "PLAINTEXT://proxy:1234"
        assert got.source_host() == ""

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ({"listeners": "127.0.0.1:9092"}, "NAME://HOST:PORT"),
            ({"listeners": "PLAINTEXT://h:70000"}, "NAME://HOST:PORT"),
            ({"listeners": "PLAINTEXT://a:1,PLAINTEXT://b:2"}, "each listener name once"),
            (
                {
                    "listeners": "PLAINTEXT://a:1,B://b:1",
                    "listener_security_protocol_map": "B:PLAINTEXT",
                },
                "each port once",
            ),
            ({"listeners": "INTERNAL://a:1"}, "listener.security.protocol.map"),
            (
                {"listeners": "B://a:1", "listener_security_protocol_map": "B:QUIC"},
                "one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
            ),
            ({"listener_security_protocol_map": "PLAINTEXT"}, "NAME:PROTOCOL"),
            ({"listeners": "PLAINTEXT://0.0.0.0:9092"}, "set advertised.listeners"),
            (
                {
                    "advertised_listeners": "OTHER://a:1",
                    "listener_security_protocol_map": "OTHER:PLAINTEXT",
                },
                "a listener that listeners binds (PLAINTEXT)",
            ),
            ({"inter_broker_listener_name": "OTHER"}, "the name of an advertised listener"),
            (
                {
                    "inter_broker_listener_name": "PLAINTEXT",
                    "security_inter_broker_protocol": "PLAINTEXT",
                },
                "are both set",
            ),
        ],
    )
    def test_refusals(self, keys: dict[str, str], message: str) -> None:
        with pytest.raises(SettingsError) as caught:
            settings(**keys)
        assert message in str(caught.value)
