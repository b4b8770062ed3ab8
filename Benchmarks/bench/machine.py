"""The machine: which core is whose, how busy the two are, and what must be installed."""

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

# The time that a hypervisor, or other programs, may take of the two cores before a run counts as disturbed.
STOLEN_MAX = 0.02
OTHERS_MAX = 0.05
# From here on the server is what limits requests per second.
SERVER_BUSY_MIN = 0.97

# Before each run the cores are watched until they are idle, that long at a time.
QUIET_SECONDS = 0.5

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """What ends the whole run, in words for whoever started it."""


@dataclass
class Cores:
    """What /proc/stat says of the two cores, in ticks."""

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
    """Waits until other programs leave the two cores alone, but no longer than that many seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        cores = Cores.read()
        time.sleep(QUIET_SECONDS)
        after = Cores.read()
        used = sum(after.busy.values()) - sum(cores.busy.values()) + after.stolen - cores.stolen
        if used <= STOLEN_MAX * (after.total - cores.total):
            return


def find(program):
    # Debian keeps nginx where the path of most users doesn't lead.
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def require_cores():
    if not {SERVER_CORE, CLIENT_CORE} <= os.sched_getaffinity(0):
        raise Failure("two cores are needed, 0 for the server and 1 for the clients")


def describe():
    """The processor and the versions that a table's figures belong to."""
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
