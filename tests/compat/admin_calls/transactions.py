"""As Transactions.java, where an administrator looks after them."""

from __future__ import annotations

import pytest

from logquake.client import Admin, Producer
from logquake.client.admin.producers import AbortTransactionSpec, ProducerState
from logquake.client.admin.topics import NewTopic
from logquake.client.admin.transactions import TransactionListing
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition
from tests.compat.admin_calls.said import Said, all_of, done, text
from tests.waiting import PATIENCE_S, wait_for

FIRST = TopicPartition("moved", 0)


def make(admin: Admin, servers: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("moved", 2, 1)]))
    with Producer(bootstrap_servers=servers, transactional_id="same") as producer:
        producer.init_transactions()
        _commit(producer)
        done(admin.fence_producers(["same"]))
        with pytest.raises(ClientError, match="fenced"):
            _commit(producer)
    said.of(
        "fence whom nobody knows",
        lambda: all_of(admin.fence_producers(["unheard"]))["unheard"].producer_id >= 0,
    )
    _watched(admin, servers, said)
    said.of("describe an unknown one", lambda: done(admin.describe_transactions(["unheard-of"])))
    nobodys = AbortTransactionSpec(FIRST, 4242, 0, 0)
    said.of("abort what nobody began", lambda: admin.abort_transaction(nobodys).result(PATIENCE_S))


def _commit(producer: Producer) -> None:
    producer.begin_transaction()
    producer.send("moved", b"v", partition=0)
    producer.commit_transaction()


def _watched(admin: Admin, servers: str, said: Said) -> None:
    with Producer(
        bootstrap_servers=servers, transactional_id="watched", transaction_timeout_ms=600_000
    ) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send("moved", b"slow", b"k", partition=0, timestamp_ms=7)
        producer.flush()
        said.of("describe", lambda: _described(admin))
        said.of(
            "list those under way",
            lambda: set(
                map(_listing, admin.list_transactions(states=["Ongoing"]).result(PATIENCE_S).all())
            ),
        )
        old = admin.list_transactions(duration_ms=3_600_000).result(PATIENCE_S).all()
        assert set(map(_listing, old)) == {"unheardEmpty"}
        _aborted_by_hand(admin, said)
        producer.commit_transaction()
    wait_for("end of watched", lambda: _state(admin), lambda state: state == "CompleteCommit")


def _state(admin: Admin) -> str:
    return admin.describe_transactions(["watched"])["watched"].result(PATIENCE_S).state


def _described(admin: Admin) -> str:
    found = all_of(admin.describe_transactions(["watched"]))["watched"]
    return (
        f"{found.coordinator_id} {found.state} {found.producer_epoch} {found.timeout_ms} "
        f"{text(found.partitions)} {text(found.start_time_ms is not None)}"
    )


def _listing(found: TransactionListing) -> str:
    return f"{found.transactional_id}{found.state}"


def _aborted_by_hand(admin: Admin, said: Said) -> None:
    writers: tuple[ProducerState, ...] = all_of(admin.describe_producers([FIRST]))[FIRST]
    (writer,) = (each for each in writers if each.current_transaction_start_offset is not None)
    spec = AbortTransactionSpec(
        FIRST, writer.producer_id, writer.producer_epoch, writer.coordinator_epoch or 0
    )
    said.of("abort by hand", lambda: admin.abort_transaction(spec).result(PATIENCE_S))
    after: tuple[ProducerState, ...] = all_of(admin.describe_producers([FIRST]))[FIRST]
    assert all(each.current_transaction_start_offset is None for each in after)
