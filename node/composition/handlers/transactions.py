"""Transactions, from a producer's id to the markers."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.add_offsets_to_txn import AddOffsetsToTxn
from logquake.node.requests.add_partitions_to_txn import AddPartitionsToTxn
from logquake.node.requests.describe_transactions import DescribeTransactions
from logquake.node.requests.end_txn import EndTxn
from logquake.node.requests.handler import Handler
from logquake.node.requests.init_producer_id import InitProducerId
from logquake.node.requests.list_transactions import ListTransactions
from logquake.node.requests.txn_offset_commit import TxnOffsetCommit
from logquake.node.requests.write_txn_markers import WriteTxnMarkers


def transaction_handlers(parts: Parts) -> list[Handler[Any]]:
    settings, transactions, authorizer = parts.settings, parts.transactions, parts.authorizer
    cache, scheduler = parts.metadata, parts.outside.scheduler
    offsets = parts.groups.offsets
    return [
        InitProducerId(parts.producer_ids, transactions, authorizer),
        AddPartitionsToTxn(transactions, cache, authorizer),
        AddOffsetsToTxn(transactions, parts.coordinator_topics.groups, authorizer),
        TxnOffsetCommit(offsets, cache, scheduler, authorizer),
        EndTxn(transactions, authorizer),
        WriteTxnMarkers(parts.replicas, offsets, scheduler, timeout_ms=settings.request_timeout_ms),
        DescribeTransactions(transactions, authorizer),
        ListTransactions(transactions, authorizer),
    ]
