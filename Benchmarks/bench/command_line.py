"""The command line: parses the options, runs the workloads, and prints or stores the tables."""

import argparse
import contextlib
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

from . import __doc__ as about
from . import clients, fixtures, tables, workloads
from .cases import Folders
from .machine import HERE, Failure, describe, require_cores
from .measurement import measure_undisturbed
from .server import Server
from .workloads import WORKLOADS

# The descriptor limit of this process and the server, for more than 10,000 connections.
DESCRIPTORS = 20_000


def arguments():
    def positive(text):
        if int(text) < 1:
            raise ValueError
        return int(text)

    def names_of(known, what):
        def parse(text):
            names = text.split(",")
            for name in names:
                if name not in known:
                    raise argparse.ArgumentTypeError(f"unknown {what} {name}; known are {', '.join(known)}")
            return names

        return parse

    parser = argparse.ArgumentParser(prog="Benchmarks/run", description=about.partition("\n\n")[0])
    parser.add_argument(
        "--workload", type=names_of(WORKLOADS, "workload"), default=["small"], metavar="NAME[,NAME]",
        help=f"the workloads to run (default: small): {', '.join(WORKLOADS)}",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="run all workloads")
    parser.add_argument("--list", action="store_true", help="list the workloads and clients, and exit")
    parser.add_argument(
        "--only", type=names_of(clients.CLIENTS, "client"), default=list(clients.CLIENTS), metavar="CLIENT[,CLIENT]",
        help="run only these clients",
    )  # fmt: skip
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="how often each client runs (default: 3)")
    parser.add_argument(
        "--in-flight", type=lambda text: tuple(positive(level) for level in text.split(",")), metavar="N[,N]",
        default=workloads.SMALL_LEVELS, help="requests in flight in the workload small (default: 1,8,64,256)",
    )  # fmt: skip
    parser.add_argument(
        "--scale", type=float, default=1, metavar="F", help="factor for the number of requests (default: 1)")
    parser.add_argument(
        "--patience", type=float, default=30, metavar="SECONDS",
        help="how long to wait before each run for the cores to become idle (default: 30)",
    )  # fmt: skip
    parser.add_argument("--readme", action="store_true", help="write the tables into Benchmarks/README.md")
    options = parser.parse_args()
    if options.all:
        options.workload = list(WORKLOADS)
    return options


def cases_of(workload, folders, options):
    cases = workload.cases(folders)
    if workload.name == "small":
        cases = [workloads.small(level) for level in options.in_flight]
    cases = [case.only(options.only).scaled(options.scale) for case in cases]
    return [case for case in cases if case.rows]


def prepare(chosen, options):
    """Checks that everything is installed, and builds the clients."""
    wanted = {
        row.client.name: row.client for workload in chosen for case in cases_of(workload, Folders("", ""), options)
        for row in case.rows}  # fmt: skip
    if not wanted:
        raise Failure("these workloads don't use any of the chosen clients; change --workload or --only")
    for workload in chosen:
        wanted.update({name: clients.CLIENTS[name] for name in workload.clients})
    require_cores()
    clients.require(list(wanted.values()), {program for workload in chosen for program in workload.programs})
    clients.build(wanted.values())


def run(workload, options):
    """Runs all cases of a workload and returns their tables."""
    with contextlib.ExitStack() as stack:
        state = stack.enter_context(tempfile.TemporaryDirectory(prefix="lupine-benchmarks-"))
        os.chmod(state, 0o755)  # nginx's worker may run as another user
        downloads = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="lupine-benchmarks-", dir=fixtures.folder_for_downloads(state)))
        fixtures.make(state, workload.needs)
        server = Server(state, workload.needs)
        stack.callback(server.stop)
        # Temporary files use the same file system, so that a finished download is renamed instead of copied.
        environment = {**os.environ, "TMPDIR": downloads}
        return [
            tables.section(case, samples_of(case, server, environment, options))
            for case in cases_of(workload, Folders(state, downloads), options)]  # fmt: skip


def samples_of(case, server, environment, options):
    samples = {row.name: [] for row in case.rows}
    for number in range(options.rounds):
        print(f"{case.title}: round {number + 1} of {options.rounds}", file=sys.stderr)
        for row in case.rows:
            samples[row.name].append(measure_undisturbed(case, row, server, environment, options.patience))
    return samples


def write_readme(name, text):
    readme = HERE / "README.md"
    before, begin, rest = readme.read_text().partition(f"<!-- begin {name} -->\n")
    _, end, after = rest.partition(f"<!-- end {name} -->")
    if not begin or not end:
        raise Failure(f"{readme} has no markers for {name}; restore <!-- begin {name} --> and <!-- end {name} -->")
    readme.write_text(before + begin + text + "\n" + end + after)


def main():
    options = arguments()
    if options.list:
        print("\n".join(f"{workload.name:20} {workload.about}" for workload in WORKLOADS.values()), "", sep="\n")
        print("\n".join(f"{client.name:20} {client.title}" for client in clients.CLIENTS.values()))
        return
    chosen = [WORKLOADS[name] for name in options.workload]
    prepare(chosen, options)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, most) if most > 0 else DESCRIPTORS, most))
    command, machine = shlex.join(["Benchmarks/run", *sys.argv[1:]]), describe()
    failed = []
    for workload in chosen:
        print(f"{workload.name}: {workload.about}", file=sys.stderr)
        try:
            sections = run(workload, options)
        except Failure as failure:  # continue with the other workloads, since they take long
            print(f"Benchmarks/run: {workload.name}: {failure}", file=sys.stderr)
            failed.append(workload.name)
            continue
        if not sections:
            continue
        text = "\n\n".join([
            f"`{command}` on {machine} Median of {options.rounds} rounds, with minimum and maximum in parentheses.", *sections])  # fmt: skip
        print(f"### {workload.name}\n\n{text}\n", flush=True)
        if options.readme:
            write_readme(workload.name, text)
    if failed:
        raise Failure(f"these workloads failed: {', '.join(failed)}")


def entry():
    """Runs `main`; if it fails, exits with a one-line message."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Benchmarks/run: terminated"))  # exits through the cleanup that stops the server
    try:
        main()
    except Failure as failure:
        sys.exit(f"Benchmarks/run: {failure}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"Benchmarks/run: {shlex.join(map(str, error.cmd))} failed with exit code {error.returncode}")
