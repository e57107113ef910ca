"""What an answer to a Fetch may weigh."""

from __future__ import annotations

from logquake.client.consumer.settings import FetchSettings

MIB = 1 << 20


def test_an_answer_may_have_what_its_request_asked_for() -> None:
    settings = FetchSettings(max_bytes=200 * MIB, partition_max_bytes=MIB, max_response_bytes=MIB)
    assert settings.max_answer_bytes(version=12, partitions=500) == 201 * MIB
    assert settings.max_answer_bytes(version=2, partitions=500) == 501 * MIB


def test_a_batch_that_is_larger_than_what_was_asked_for_comes_all_the_same() -> None:
    settings = FetchSettings(
        max_bytes=1,
        partition_max_bytes=1,
        max_response_bytes=MIB,
        max_decompressed_bytes=7 * MIB,
    )
    assert {settings.max_answer_bytes(version, 1) for version in (2, 3)} == {8 * MIB}
