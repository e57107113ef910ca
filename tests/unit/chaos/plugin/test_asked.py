from __future__ import annotations

from logquake.chaos.plugin.asked import asked


def test_the_nearest_wins_key_by_key_and_settings_are_merged() -> None:
    wanted = asked(
        [
            {"brokers": 1, "config": {"min.insync.replicas": 1}},
            {"brokers": 5, "preset": "kafka_defaults", "config": {"num.partitions": 4}},
            {"config": {"min.insync.replicas": 2}},
        ]
    )
    assert wanted.options["brokers"] == 1
    assert wanted.options["preset"] == "kafka_defaults"
    config = wanted.options["config"]
    assert (config["min.insync.replicas"], config["num.partitions"]) == (1, 4)


def test_coordinators_topics_are_small_unless_told() -> None:
    key = "offsets.topic.num.partitions"
    assert asked([]).options["config"][key] == 5
    assert asked([{"config": {key: 50}}]).options["config"][key] == 50


def test_who_asks_for_the_same_can_have_the_same() -> None:
    one, other = asked([{"brokers": 1, "secure": True}]), asked([{"secure": True}, {"brokers": 1}])
    assert one.key == other.key != asked([{"brokers": 1}]).key


def test_a_cluster_of_ones_own_is_no_setting_of_the_cluster() -> None:
    wanted = asked([{"fresh": True}])
    assert wanted.fresh
    assert "fresh" not in wanted.options
    assert wanted.key == asked([]).key
