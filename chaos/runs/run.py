"""One run: a cluster, programs that use it, what breaks it, until all is whole again.

What is seen is written as it happens; judging begins when nothing writes any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from threading import Event

from logquake.chaos.card.stored import write_stored
from logquake.chaos.faults.performing import Stage
from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.observer import observing
from logquake.chaos.runs.conditions import GivenUpError, Waiting
from logquake.chaos.runs.conductor import Conductor
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.kafka_journals import write_journals
from logquake.chaos.runs.outcome import Outcome
from logquake.chaos.runs.playing import play_schedule, play_steps
from logquake.chaos.runs.programs import Programs
from logquake.chaos.runs.quiescing import WHOLE_WITHIN_S, heal_everything, wait_until_whole
from logquake.chaos.runs.reading_back import FINAL_READER, read_back
from logquake.chaos.runs.status import Screen, Status
from logquake.chaos.runs.tally import Tally
from logquake.chaos.scenarios.files import write_scenario
from logquake.chaos.scenarios.patterns import RowPattern
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.setup import TopicSetup, WorkloadSetup
from logquake.chaos.scenarios.steps import Condition
from logquake.client import Admin
from logquake.client.admin import NewTopic
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.observed import CHANGE_TIMEOUT_S
from logquake.cluster.spec import as_property

HARNESS = "harness"
TICK_S = 0.25
# Where a machine starves its processes; a JVM takes seconds of processor to start.
STARTED_WITHIN_S = 180.0
# Scenarios' times are for our brokers, which start in a tenth of a JVM's processor time.
PATIENCE_WITH_KAFKA = 3.0
MADE_WITHIN_S = 60.0  # topics; the brokers' own among them, of many partitions
FIRST_ACK_WITHIN_S = 60.0
ENDED_WITHIN_S = 180.0
# Of a whole cluster, so that each program is seen to succeed again before it is ended.
AFTERMATH_S = 2.0


class Run:
    """Call carry_out() once, on the main thread."""

    def __init__(
        self,
        scenario: Scenario,
        folder: RunFolder,
        screen: Screen,
        whole_within_s: float = WHOLE_WITHIN_S,
    ) -> None:
        self._scenario = scenario
        self._patience = PATIENCE_WITH_KAFKA if scenario.setup.kafka else 1.0
        self._whole_within_s = whole_within_s * self._patience
        self._folder = folder
        self._seed = scenario.seed or 0
        self._screen = screen
        self._given_up = Event()
        self._outcome = Outcome()
        self._phase = "starting"

    def carry_out(self) -> Outcome:
        """Raises ClusterError where the surroundings don't allow it; then nothing is left running.

        Ctrl-C ends the faults: all is healed and judged as far as it went.
        """
        self._folder.prepare()
        text = write_scenario(self._scenario, f"As it was run, with seed {self._seed}.")
        self._folder.scenario.write_text(text)
        with (
            closing(
                _cluster(self._scenario, self._folder, self._screen.say).open(STARTED_WITHIN_S)
            ) as kafka,
            HistoryWriter(self._folder.history_of(HARNESS), HARNESS) as history,
            Programs(self._folder.histories) as programs,
        ):
            make_topics(kafka, self._scenario.setup.topics)
            if self._scenario.is_watched:
                kafka.watch(self._folder.links)
            history.record(
                Kind.BEGAN, HARNESS, after={"kind": self._scenario.name, "seed": self._seed}
            )
            for workload in self._scenario.workloads:
                programs.begin(kafka.bootstrap_servers, self._seed, workload)
            self._break(kafka, history, programs)
            history.record(Kind.ENDED, HARNESS)
            end_at_once(kafka)
        if self._scenario.setup.kafka:
            write_journals(self._folder.cluster)
        self._folder.outcome.write_text(json.dumps(self._outcome.to_json(), indent=2) + "\n")
        return self._outcome

    def _break(self, kafka: Cluster, history: HistoryWriter, programs: Programs) -> None:
        tally = Tally(self._folder.live_files, self._screen.happened)
        conductor = Conductor(Stage(kafka, programs), history)
        topics = [topic.name for topic in self._scenario.setup.topics]
        with observing(kafka, history, topics=topics), _player() as player:
            tick = self._ticker(tally, conductor)
            start = partial(programs.begin, kafka.bootstrap_servers, self._seed)
            try:
                waiting = Waiting(kafka, tally, self._given_up, self._patience)
                self._play(player.submit(self._breaking, waiting, conductor, start), tick)
            finally:
                self._phase = "healing"
                self._outcome.not_healed = heal_everything(kafka, conductor)
            self._settle(kafka, programs, tick)

    def _play(self, playing: Future[None], tick: Callable[[], None]) -> None:
        """It plays on a thread of its own, while this one reads what comes and shows it."""
        try:
            while not playing.done():
                tick()
                time.sleep(TICK_S)
        except KeyboardInterrupt:
            self._outcome.given_up = True
            self._given_up.set()
        with suppress(GivenUpError):
            self._outcome.not_played = _complaint(playing)

    def _breaking(
        self, waiting: Waiting, conductor: Conductor, start: Callable[[WorkloadSetup], None]
    ) -> None:
        if self._scenario.workloads:
            self._phase = "waiting for the first ack"
            waiting.until(Condition(rows=self._first_success()), FIRST_ACK_WITHIN_S)
        self._phase = "breaking"
        if self._scenario.schedule is not None:
            play_schedule(self._scenario.schedule, conductor, waiting)
        play_steps(self._scenario.steps or (), conductor, waiting, start, self._screen.say)

    def _first_success(self) -> RowPattern:
        """Of programs that write no history, the first answer."""
        if all(one.command is not None for one in self._scenario.workloads):
            return RowPattern(what=Kind.EXCHANGED, subject="Produce|Fetch")
        return RowPattern(what=Kind.ACKED)

    def _settle(self, kafka: RunningCluster, programs: Programs, tick: Callable[[], None]) -> None:
        self._phase = "waiting until the cluster is whole"
        self._outcome.not_whole += wait_until_whole(kafka, tick, self._whole_within_s)
        self._phase = "letting programs end"
        ends = time.monotonic() + AFTERMATH_S
        while time.monotonic() < ends:
            tick()
            time.sleep(TICK_S)
        self._outcome.not_ended += programs.end(ENDED_WITHIN_S)
        self._outcome.not_whole += wait_until_whole(kafka, tick, self._whole_within_s)
        self._phase = "reading everything back"
        tick()
        for topic in self._scenario.setup.topics:
            complaint = read_back(kafka, topic.name, self._folder.histories)
            self._outcome.not_ended += [complaint] if complaint else []
        if self._scenario.is_watched:
            topics = [topic.name for topic in self._scenario.setup.topics]
            complaint = write_stored(
                kafka.kafka_config(), topics, self._folder.links, self._folder.histories
            )
            self._outcome.not_ended += [complaint] if complaint else []

    def _ticker(self, tally: Tally, conductor: Conductor) -> Callable[[], None]:
        started = time.monotonic()

        def tick() -> None:
            tally.poll()
            self._screen.show(
                Status(
                    phase=self._phase,
                    elapsed_s=time.monotonic() - started,
                    counts=dict(tally.counts),
                    partitions=dict(tally.observed),
                    standing=[(one.fault, one.subject) for one in conductor.standing],
                )
            )

        return tick


def _player() -> ThreadPoolExecutor:
    """The thread that plays. Programs that it starts live no longer than it does
    (`cluster/processes/lifeline.py`), so it is kept until they have ended.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="player")


def _cluster(scenario: Scenario, folder: RunFolder, say: Callable[[str], None]) -> Cluster:
    setup = scenario.setup
    return Cluster(
        brokers=setup.brokers,
        config=setup.config,
        data_dir=folder.cluster.root,
        preset=setup.preset,
        links=True,
        zookeepers=setup.zookeepers,
        planted_bugs=setup.planted_bugs,
        kafka=setup.kafka,
        name=scenario.name,
        on_progress=say,
    )


def make_topics(kafka: RunningCluster, topics: Sequence[TopicSetup]) -> None:
    """Groups' own too: made for the reader that comes last, it would not be whole in the end.

    Raises ClusterError.
    """
    try:
        with kafka.admin(MADE_WITHIN_S, answer=CHANGE_TIMEOUT_S) as admin:
            # Who asks about a group has the topic of groups made.
            admin.describe_consumer_groups([FINAL_READER])[FINAL_READER].result()
            for topic in topics:
                _make(admin, topic)
    except ClientError as error:
        raise ClusterError(f"the topics could not be made: {error}") from error
    for topic in topics:
        for partition in range(topic.partitions):
            kafka.wait_leader(topic.name, partition)


def _make(admin: Admin, topic: TopicSetup) -> None:
    configs = {key: as_property(value) for key, value in topic.config.items()}
    if topic.replicas is None:
        wanted = NewTopic(topic.name, topic.partitions, topic.replication, configs=configs)
    else:
        replicas = dict(enumerate(topic.replicas))
        wanted = NewTopic(topic.name, replicas_assignments=replicas, configs=configs)
    admin.create_topics([wanted])[topic.name].result()


def end_at_once(kafka: RunningCluster) -> None:
    """ZooKeeper first, so that nothing is decided any more: judged is what was whole."""
    state = kafka.state()
    for member in (*state.zookeepers, *state.brokers):
        kafka.kill(member.name)


def _complaint(playing: Future[None]) -> str | None:
    """Raises GivenUpError, and whatever is a mistake of ours."""
    try:
        playing.result()
    except GivenUpError:
        raise
    except ClusterError as error:
        return str(error).splitlines()[0]
    return None
