"""Measures one run of one program on the client's core, and the machine's load meanwhile."""

import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .machine import (
    CLIENT_CORE, OTHERS_MAX, SERVER_BUSY_MIN, STOLEN_MAX, TICKS_PER_SECOND, Cores, Failure, wait_until_quiet,
)  # fmt: skip

# How often a disturbed run is repeated; after that, its figures are used and marked.
REPEATS_MAX = 2

# The interval for reading the memory of a program that doesn't report it.
WATCH_SECONDS = 0.05


@dataclass
class Sample:
    """The figures of one run of a client, and the load of the machine meanwhile."""

    values: dict  # the figures, by the keys of the columns in cases.py
    server: float  # the load of the server's core, from 0 to 1
    stolen: float
    others: float

    @property
    def is_disturbed(self):
        return self.stolen > STOLEN_MAX or self.others > OTHERS_MAX

    @property
    def is_server_bound(self):
        return self.server > SERVER_BUSY_MIN


@dataclass
class Ended:
    """The output and the resource usage of a program that has exited."""

    output: str
    seconds: float
    user: float
    system: float
    resident_kib: int


def execute(command, environment):
    """Runs a command on the client's core, and returns its output and resource usage."""
    command = [str(part) for part in command]
    begin = time.monotonic()
    process = subprocess.Popen(
        ["taskset", "-c", str(CLIENT_CORE), *command], stdout=subprocess.PIPE, text=True, env=environment)
    watch = Watch(process.pid)
    try:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:  # the run was interrupted
        process.kill()
        raise
    elapsed = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.stop()
    if process.returncode != 0:
        raise Failure(f"{shlex.join(command)} failed with exit code {process.returncode}; its output is:\n{output}")
    return Ended(output, elapsed, usage.ru_utime, usage.ru_stime, watch.resident_kib)


class Watch:
    """Polls the peak resident set size of a process until it exits. The value from wait4 would include the parent's."""

    def __init__(self, pid):
        self.status = Path(f"/proc/{pid}/status")
        self.resident_kib = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.wait(WATCH_SECONDS):
            try:
                found = re.search(r"VmHWM:\s*(\d+)", self.status.read_text())
            except OSError:
                return
            if found:
                self.resident_kib = int(found[1])

    def stop(self):
        self.ended.set()
        self.thread.join()


def figures(ended, case, row, job):
    """Returns the figures of a run: those that the program printed, and the others as measured from outside."""
    printed = {}
    if row.expected_output is None:
        printed = row.client.parse(ended.output)
    elif ended.output != row.expected_output * job.requests:
        raise Failure(f"{row.title} printed unexpected output: {ended.output[:100]!r}")
    if "connections" in printed:
        return {
            "connections": printed["connections"], "allocated": printed["allocated_bytes_each"] / 1024,
            "resident_each": printed["resident_bytes_each"] / 1024, "resident": printed["peak_rss_kib"] / 1024,
        }  # fmt: skip
    requests = printed.get("requests", job.requests)
    per_request = 1e6 / requests
    user, system = printed.get("user_seconds", ended.user), printed.get("system_seconds", ended.system)
    rate = printed.get("requests_per_second", requests / ended.seconds)
    values = {
        "rate": rate, "user": user * per_request, "system": system * per_request, "cpu": (user + system) * per_request,
        "resident": printed.get("peak_rss_kib", ended.resident_kib) / 1024,
        "mib_per_second": rate * case.body_bytes / (1 << 20),
    }  # fmt: skip
    values.update({name: printed[f"{name}_us"] for name in ("p50", "p99", "p999") if f"{name}_us" in printed})
    if not row.has_whole_body:
        del values["mib_per_second"]
    if not values["resident"]:
        del values["resident"]  # the program exited before it was polled
    return values


def launches(case, row, job, environment):
    """Starts a program several times. Returns the median of the run times with other figures, and the results of all runs."""
    command = row.client.command(job)
    all_ended = [execute(command, environment) for _ in range(case.launches)]
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, command[0]], check=True)
        stripped_size = os.path.getsize(stripped.name)
    return {
        "size": os.path.getsize(command[0]) / (1 << 20), "stripped": stripped_size / (1 << 20),
        "wall": statistics.median(ended.seconds for ended in all_ended) * 1e3,
        "user": statistics.mean(ended.user for ended in all_ended) * 1e6,
        "system": statistics.mean(ended.system for ended in all_ended) * 1e6,
        "cpu": statistics.mean(ended.user + ended.system for ended in all_ended) * 1e6,
        "resident": figures(all_ended[-1], case, row, job).get("resident"),
    }, all_ended  # fmt: skip


def measure(case, row, server, environment):
    job = row.job(case)
    if row.client.warm_up:
        execute(row.client.warm_up(job), environment)
    cores, served, begin = Cores.read(), server.ticks(), time.monotonic()
    if case.launches:
        values, all_ended = launches(case, row, job, environment)
    else:
        # Responses that an earlier run has stored would be hits.
        with tempfile.TemporaryDirectory(prefix="lupine-benchmarks-") as cache:
            ended = execute(row.client.command(job), {**environment, "XDG_CACHE_HOME": cache})
        values, all_ended = figures(ended, case, row, job), [ended]
    elapsed = time.monotonic() - begin
    after, served = Cores.read(), server.ticks() - served

    busy = sum(after.busy.values()) - sum(cores.busy.values())
    own = sum(ended.user + ended.system for ended in all_ended) * TICKS_PER_SECOND + served
    total = max(1, after.total - cores.total)
    return Sample(
        values, server=served / TICKS_PER_SECOND / elapsed, stolen=(after.stolen - cores.stolen) / total,
        others=max(0, busy - own) / total,
    )  # fmt: skip


def measure_undisturbed(case, row, server, environment, patience):
    """Like `measure`, but repeats a run that was disturbed, unless `patience` is 0."""
    for attempt in range(REPEATS_MAX + 1):
        wait_until_quiet(patience)
        sample = measure(case, row, server, environment)
        again = sample.is_disturbed and attempt < REPEATS_MAX and patience > 0
        shown = ", ".join(f"{column.title} {sample.values[column.key] * column.factor:,.{column.digits}f}"
                          for column in case.columns[:4] if column.key in sample.values)
        print(
            f"  {row.name:24} {shown}; server {sample.server:.0%} busy, {sample.stolen:.1%} stolen,"
            f" {sample.others:.1%} others"
            + (", disturbed" if sample.is_disturbed else "") + (": again" if again else ""),
            file=sys.stderr, flush=True,
        )  # fmt: skip
        if not again:
            return sample
