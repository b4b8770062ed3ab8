"""The parts of a workload: cases with their rows, the figures to show, and the targets."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import server
from .clients import Client, Job

WARM_UP_SHARE = 10  # a tenth of the requests is sent before the measurement


@dataclass(frozen=True)
class Column:
    """A column of the table of figures: the key of the figure in a sample's values, its title, and its format."""

    key: str
    figure: str  # without the unit
    unit: str = ""
    digits: int = 0
    factor: float = 1

    @property
    def title(self):
        return f"{self.figure}, {self.unit}" if self.unit else self.figure


REQUESTS = (
    Column("rate", "Requests/s"), Column("cpu", "CPU", "µs", 1), Column("user", "user", "µs", 1),
    Column("system", "system", "µs", 1), Column("p50", "p50", "µs"), Column("p99", "p99", "µs"),
    Column("p999", "p99.9", "µs"), Column("resident", "Peak RSS", "MiB"),
)  # fmt: skip
BODIES = (
    Column("mib_per_second", "MiB/s"), Column("cpu", "CPU", "ms", 0, 1e-3), Column("user", "user", "ms", 0, 1e-3),
    Column("system", "system", "ms", 0, 1e-3), Column("resident", "Peak RSS", "MiB"),
)  # fmt: skip
IDLE = (
    Column("connections", "Connections"), Column("allocated", "allocated each", "KiB", 1),
    Column("resident_each", "resident each", "KiB", 1), Column("resident", "Peak RSS", "MiB"),
)  # fmt: skip
STARTS = (
    Column("wall", "Start to end", "ms", 1), Column("cpu", "CPU", "ms", 1, 1e-3), Column("resident", "Peak RSS", "MiB"),
    Column("size", "Size", "MiB", 1), Column("stripped", "stripped", "MiB", 1),
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A target for the figure of a row, or for the ratio of this figure to the sum of other rows' figures."""

    text: str
    row: str
    key: str
    of: tuple = ()
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Row:
    """A row of a case: the client that does the work, with its additional arguments."""

    client: Client
    title: str = ""
    name: str = ""
    arguments: tuple = ()
    path: str = ""  # replaces the case's path
    expected_output: str | None = None  # of a program that prints the body instead of figures
    in_flight: int | None = None  # replaces the case's number
    has_whole_body: bool = True  # False: only a part of the work, for which MiB/s are meaningless

    def job(self, case):
        in_flight = self.in_flight or case.in_flight
        requests = max(1, case.requests // self.client.share)
        if case.requests > in_flight:
            requests = max(requests, in_flight)
        warm_up = case.warm_up if case.warm_up is not None else max(in_flight, requests // WARM_UP_SHARE)
        return Job(case.origin + (self.path or case.path), requests, in_flight, warm_up, self.arguments)


@dataclass(frozen=True)
class CodedRow(Row):
    """A row whose expected body length is the size of a file that is created when the run starts."""

    file: str = ""

    @staticmethod
    def of(other, file):
        return CodedRow(
            other.client, other.title, other.name, other.arguments, other.path, has_whole_body=False, file=file)

    def job(self, case):
        found = super().job(case)
        with open(self.file, "rb") as file:
            return replace(found, arguments=(*found.arguments, "--body-bytes", str(file.seek(0, 2))))


@dataclass(frozen=True)
class Case:
    """A case: the work that the client of each row does, and the columns of the resulting table."""

    title: str
    rows: list
    columns: tuple = REQUESTS
    origin: str = server.PLAIN
    path: str = "/"
    requests: int = 100_000
    in_flight: int = 64
    warm_up: int | None = None
    body_bytes: int = 0  # per request, for MiB/s
    launches: int = 0  # starts of the program per sample; 0: one start, and the program measures itself
    targets: tuple = ()
    note: str = ""

    def only(self, names):
        return replace(self, rows=[own for own in self.rows if own.client.name in names])

    def scaled(self, scale):
        # At least one request per slot; with fewer, the case would measure something else.
        least = min(self.requests, self.in_flight)
        return replace(
            self, requests=max(least, int(self.requests * scale)),
            launches=self.launches and max(2, int(self.launches * scale)))


@dataclass(frozen=True)
class Folders:
    """The directories for the files of a run."""

    state: str  # the server's
    downloads: str

    @property
    def zeros(self):
        return f"{self.state}/files/zeros"

    @property
    def authority(self):
        return f"{self.state}/ca.crt"

    @property
    def download(self):
        return f"{self.downloads}/downloaded"


@dataclass(frozen=True)
class Workload:
    name: str
    about: str
    cases: Callable[[Folders], list]
    needs: tuple = ()  # keys of fixtures.py and server.py
    programs: tuple = ()
    clients: tuple = ()  # must be built for the fixtures
