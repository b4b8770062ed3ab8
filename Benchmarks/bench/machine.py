"""The machine: the cores of server and client, their load, and installed programs."""

import os
import platform
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent  # Benchmarks/
BUILD = HERE / ".build"
SERVER_CORE, CLIENT_CORE = 0, 1

# The share of the two cores' time that the hypervisor or other programs may use before a run counts as disturbed.
STOLEN_MAX = 0.02
OTHERS_MAX = 0.05
# From this load on, the server limits the requests per second.
SERVER_BUSY_MIN = 0.97

# The interval in which the cores must be idle before a run starts.
QUIET_SECONDS = 0.5

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """An error that ends the run, with a message for the user."""


@dataclass
class Cores:
    """The times that the two cores have spent since the start of the system, from /proc/stat, in ticks."""

    total: float
    stolen: float
    busy: dict

    @staticmethod
    def read():
        total, stolen, busy = 0, 0, {}
        for line in Path("/proc/stat").read_text().splitlines():
            found = re.match(r"cpu(\d+) (.*)", line)
            if not found or int(found[1]) not in (SERVER_CORE, CLIENT_CORE):
                continue
            user, nice, system, idle, iowait, irq, softirq, steal = map(int, found[2].split()[:8])
            busy[int(found[1])] = user + nice + system + irq + softirq
            stolen += steal
            total += busy[int(found[1])] + idle + iowait + steal
        return Cores(total, stolen, busy)


def wait_until_quiet(patience):
    """Waits until the two cores are idle, for up to `patience` seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        cores = Cores.read()
        time.sleep(QUIET_SECONDS)
        after = Cores.read()
        used = sum(after.busy.values()) - sum(cores.busy.values()) + after.stolen - cores.stolen
        if used <= STOLEN_MAX * (after.total - cores.total):
            return


def find(program):
    # Debian installs nginx in a directory that isn't in most users' PATH.
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def require_cores():
    if not {SERVER_CORE, CLIENT_CORE} <= os.sched_getaffinity(0):
        raise Failure("two cores are required: 0 for the server and 1 for the clients")


def describe():
    """Returns the processor and the software versions, for the text above a table."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    versions = {
        "Swift": r"swift --version 2>/dev/null", "nginx": f"{find('nginx')} -v", "curl": "curl --version",
        "Go": "go version", "wrk": "wrk --version",
    }  # fmt: skip
    found = {name: re.search(r"\d+\.\d+(\.\d+)*", subprocess.getoutput(command)) for name, command in versions.items()}
    return (
        f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores; Linux {platform.release()}; "
        + "; ".join(f"{name} {version[0]}" for name, version in found.items() if version)
        + f"; {time.strftime('%Y-%m-%d')}.")
