"""What a program looks up through its consumer: offsets, topics and lag."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from random import Random

from logquake.client.arguments import check_place, check_places, check_times, check_topic
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.positions.end_looks import EndLook
from logquake.client.consumer.positions.leader_requests import LeaderRequests
from logquake.client.consumer.positions.offset_lists import OffsetAndTimestamp
from logquake.client.consumer.positions.offset_search import OffsetSearch
from logquake.client.consumer.questions import ProgramQuestion, ProgramQuestions
from logquake.client.consumer.settings import AskingSettings
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.consumer.topic_search import TopicSearch
from logquake.client.consumer.topics import SubscribedTopics
from logquake.client.driving.steps import Steps
from logquake.client.errors import TimedOutError
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.partitions import PartitionNodes
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition


class Lookups:
    """Calls that wait raise TimedOutError, or the ClientError of a broker that refuses."""

    def __init__(
        self,
        settings: AskingSettings,
        calls: Calls,
        subscriptions: Subscriptions,
        topics: SubscribedTopics,
        network: NetworkClient,
        metadata: Metadata,
        leaders: LeaderRequests,
        questions: ProgramQuestions,
        random: Random,
    ) -> None:
        self._settings = settings
        self._calls = calls
        self._subscriptions = subscriptions
        self._topics = topics
        self._network = network
        self._metadata = metadata
        self._leaders = leaders
        self._questions = questions
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._ends_asked: dict[TopicPartition, EndLook] = {}

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndTimestamp | None]]:
        """The offset of the first record at or after each time; None if there is none.

        Raises ValueError for a negative time.
        """
        check_times(times_ms)
        found = yield from self._search(times_ms, timeout_ms, by_time=True)
        return {place: found.get(place) for place in times_ms}

    def beginning_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int
    ) -> Steps[dict[TopicPartition, int]]:
        check_places(places)
        found = yield from self._search(dict.fromkeys(places, EARLIEST_TIMESTAMP), timeout_ms)
        return {place: each.offset for place, each in found.items()}

    def end_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int
    ) -> Steps[dict[TopicPartition, int]]:
        """The offset after the last record that may be read: with read_committed, after the last
        one before any open transaction.
        """
        check_places(places)
        found = yield from self._search(dict.fromkeys(places, LATEST_TIMESTAMP), timeout_ms)
        return {place: each.offset for place, each in found.items()}

    def current_lag(self, place: TopicPartition) -> int | None:
        """How many records the position lags behind the end, or None if not known yet.

        In that case the end is requested once, for later calls. Raises NotAssignedError.
        """
        with self._calls.one_at_a_time():
            check_place(place)
            state = self._subscriptions.of(place)
            self._forget_ends_told()
            if state.end_offset(self._settings.isolation) is None:
                if place not in self._ends_asked:
                    search = self._offset_search({place: LATEST_TIMESTAMP}, by_time=False)
                    look = self._ends_asked[place] = EndLook(place, search, self._metadata)
                    self._questions.ask(look)
                return None
            return state.lag(self._settings.isolation)

    def _forget_ends_told(self) -> None:
        for place, look in list(self._ends_asked.items()):
            if look.is_done or place not in self._subscriptions.assigned:
                self._questions.drop(self._ends_asked.pop(place))

    def partitions_for(self, topic: str, timeout_ms: int) -> Steps[list[PartitionNodes]]:
        """Empty if the topic does not exist; brokers may create it, if configured to."""
        check_topic(topic)
        search = TopicSearch(
            self._network, [topic], creates=self._settings.creates_topics, backoff=self._backoff
        )
        with self._calls.one_at_a_time():
            yield from self._answered(search, f"partitions of {topic}", timeout_ms)
        return search.found.get(topic, [])

    def list_topics(self, timeout_ms: int) -> Steps[dict[str, list[PartitionNodes]]]:
        """All topics that this client is authorized to describe, including internal ones."""
        search = TopicSearch(self._network, None, creates=False, backoff=self._backoff)
        with self._calls.one_at_a_time():
            yield from self._answered(search, "topics", timeout_ms)
        return search.found

    def _search(
        self, times: Mapping[TopicPartition, int], timeout_ms: int, *, by_time: bool = False
    ) -> Steps[dict[TopicPartition, OffsetAndTimestamp]]:
        search = self._offset_search(times, by_time=by_time)
        topics = {place.topic for place in times}
        with self._calls.one_at_a_time():
            for topic in topics:
                self._metadata.use(topic, self._calls.now_ms())
            try:
                yield from self._answered(search, "offsets", timeout_ms)
            finally:
                self._topics.drop(topics)
        return search.found

    def _offset_search(self, times: Mapping[TopicPartition, int], *, by_time: bool) -> OffsetSearch:
        return OffsetSearch(
            self._settings,
            self._subscriptions,
            self._metadata,
            self._leaders,
            times,
            by_time=by_time,
        )

    def _answered(self, question: ProgramQuestion, what: str, timeout_ms: int) -> Steps[None]:
        deadline_ms = self._calls.now_ms() + timeout_ms
        self._questions.ask(question)
        try:
            in_time = yield from self._calls.wait(lambda: question.is_done, deadline_ms)
        finally:
            self._questions.drop(question)
        if not in_time:
            because = f": {question.failure}" if question.failure else ""
            trouble = self._network.trouble()
            raise TimedOutError(f"no {what} in {timeout_ms} ms{because}{trouble}")
        if question.failure is not None:
            raise question.failure
