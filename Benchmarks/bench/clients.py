"""The measured programs: what each requires, how to build it, and its command line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .machine import BUILD, HERE, Failure, find

# Maps a program to its Debian package, if the names differ.
PACKAGES = {"taskset": "util-linux", "cc": "gcc", "go": "golang-go", "strip": "binutils"}
# Maps a library's pkg-config name to its Debian package.
LIBRARIES = {
    "libcurl": "libcurl4-openssl-dev", "zlib": "zlib1g-dev", "libbrotlidec": "libbrotli-dev",
    "libbrotlienc": "libbrotli-dev",
}  # fmt: skip
CRATES = Path("/usr/share/cargo/registry")

WRK_SECONDS = 3


@dataclass(frozen=True)
class Job:
    """The work of one run of a program: the URL, and the numbers of requests."""

    url: str
    requests: int
    in_flight: int
    warm_up: int
    arguments: tuple = ()


def printed_figures(output):
    return {name: float(value) for name, value in re.findall(r"(\w+)=([\d.e+-]+)", output)}


@dataclass(frozen=True)
class Client:
    name: str
    title: str
    build: Callable[[], None]
    command: Callable[[Job], list]
    programs: tuple = ()
    libraries: tuple = ()
    # The number of requests is divided by this. It is above 1 for slow clients.
    share: int = 1
    # Returns the warm-up command of a client whose program has no option for a warm-up.
    warm_up: Callable[[Job], list] | None = None
    # Returns the figures that the program printed.
    parse: Callable[[str], dict] = printed_figures


def options(job):
    """Returns the options that all load generators in this directory have."""
    return [
        "--requests", str(job.requests), "--in-flight", str(job.in_flight), "--warm-up", str(job.warm_up),
        *job.arguments, job.url,
    ]  # fmt: skip


def run(*command, folder=HERE, **environment):
    subprocess.run(
        [str(part) for part in command], check=True, stdout=sys.stderr, cwd=folder, env={**os.environ, **environment})


def swift_build(package, scratch, *more, **environment):
    run("swift", "build", "-c", "release", "--package-path", package, "--scratch-path", scratch, *more, **environment)


def build_ours(product):
    # Builds only this product of the package.
    swift_build(HERE, BUILD, "--product", product)


def build_ours_static(product):
    swift_build(HERE, BUILD / "static", "--static-swift-stdlib", "--product", product)


def build_c(name, *libraries):
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", *libraries], text=True).split()
    BUILD.mkdir(exist_ok=True)
    run("cc", "-O2", "-o", BUILD / name, HERE / f"peers/{name}.c", *flags)


def build_go():
    run("go", "build", "-o", BUILD / "load-go", ".", folder=HERE / "peers/go", GOPROXY="off", GOFLAGS="-mod=mod")


def build_hyper():
    run("cargo", "build", "--release", "--target-dir", BUILD / "hyper", folder=HERE / "peers/hyper")


def build_package(folder):
    swift_build(HERE / "peers" / folder, BUILD / folder)


def wrk(job, seconds=WRK_SECONDS):
    header = ["-H", "User-Agent: lupine-benchmarks", "-H", "Accept: */*"]
    script = ["-s", HERE / "peers/wrk.lua"]
    return ["wrk", "-t1", f"-c{job.in_flight}", f"-d{seconds}s", *header, *script, job.url]


def build_command():
    swift_build(
        HERE.parent, BUILD / "Command", "--traits", "Bench", "--product", "lupine", LUPINE_TARGETS="LupineCommand")


def lupine_bench(job, share=1):
    # The command sends the same fields as the other clients. The number of requests ends the load.
    return [
        BUILD / "Command/release/lupine", "bench", "--in-flight", job.in_flight, "--requests", job.requests // share,
        "--duration", "1h", "--quiet", "--raw", "-H", "User-Agent: lupine-benchmarks", "--json", "-", job.url,
    ]  # fmt: skip


def figures_of_report(output):
    """Returns the figures of the JSON after the table of `lupine bench`."""
    report = json.loads(output.splitlines()[-1])
    if report["errors"]:
        raise Failure(f"lupine bench had errors: {report['errors']}")
    names = {"p50": "p50_us", "p99": "p99_us", "p99.9": "p999_us"}
    return {
        "requests": report["completed"], "requests_per_second": report["rate"],
        **{name: report["latency_since_due"][key] * 1e6 for key, name in names.items()},
    }  # fmt: skip


def curl(job):
    # Repeats the options for each transfer; all use one connection.
    return ["curl", "-sS", "--fail", "-A", "lupine-benchmarks", *[*job.arguments, job.url] * job.requests]


def generator(path):
    return lambda job: [path, *options(job)]


def coding(job):
    return [BUILD / "coding", *job.arguments, "--requests", job.requests]


def nothing():
    """Builds nothing. For programs that are already installed."""


SWIFT = ("swift",)
C = ("cc", "pkg-config")


def ours(product, title):
    return Client(
        product, title, lambda: build_ours(product), generator(BUILD / "release" / product), SWIFT)


def ours_static(name, product, title):
    return Client(
        name, f"{title}, -static-stdlib", lambda: build_ours_static(product),
        generator(BUILD / "static/release" / product), SWIFT)


CLIENTS = {
    client.name: client
    for client in [
        ours("load-api", "Lupine, Alamofire's API"),
        ours("load-engine-async", "Lupine's engine, async"),
        ours("load-engine-callback", "Lupine's engine, callbacks"),
        Client(
            "lupine-bench", "The command lupine bench", build_command, lupine_bench, SWIFT,
            warm_up=lambda job: lupine_bench(job, 10), parse=figures_of_report),
        ours("load-idle", "Lupine's engine, idle connections"),
        ours_static("load-api-static", "load-api", "Lupine, Alamofire's API"),
        ours_static("load-engine-static", "load-engine-async", "Lupine's engine"),
        Client(
            "curl-multi", "libcurl, multi interface", lambda: build_c("curl-multi", "libcurl"),
            generator(BUILD / "curl-multi"), C, ("libcurl",)),
        Client(
            "hyper", "hyper 0.14, one thread", build_hyper, generator(BUILD / "hyper/release/load-hyper"), ("cargo",)),
        Client("go", "Go's net/http, one P", build_go, generator(BUILD / "load-go"), ("go",)),
        Client(
            "async-http-client", "AsyncHTTPClient 1.37", lambda: build_package("AsyncHTTPClient"),
            generator(BUILD / "AsyncHTTPClient/release/load-async-http-client"), SWIFT, share=4),
        Client(
            "urlsession", "URLSession on Linux", lambda: build_package("URLSession"),
            generator(BUILD / "URLSession/release/load-urlsession"), SWIFT, share=20),
        Client("wrk", "wrk", nothing, wrk, ("wrk",), warm_up=lambda job: wrk(job, 1)),
        Client("curl", "curl", nothing, curl, ("curl",)),
        Client(
            "coding", "zlib or libbrotli alone", lambda: build_c("coding", "zlib", "libbrotlidec", "libbrotlienc"),
            coding, C, ("zlib", "libbrotlidec", "libbrotlienc")),
    ]
}  # fmt: skip


def require(clients, programs):
    """Throws a `Failure` with the command that installs missing packages."""
    wanted = {"nginx", "taskset", *programs}.union(*(client.programs for client in clients))
    missing = {PACKAGES.get(program, program) for program in wanted if not find(program)}
    if "swift" in missing:
        raise Failure("swift is missing; install it as described on https://www.swift.org/install/linux")
    for library in {library for client in clients for library in client.libraries}:
        if not has_library(library):
            missing.add(LIBRARIES[library])
    if CLIENTS["hyper"] in clients and not any(CRATES.glob("hyper-0.14.*")):
        missing.add("librust-hyper-dev")
    if CLIENTS["hyper"] in clients and not any(CRATES.glob("serde_json-1.*")):
        missing |= {"librust-serde-json-dev", "librust-serde-derive-dev"}
    if missing:
        raise Failure(f"packages are missing; install them:\n  sudo apt-get install {' '.join(sorted(missing))}")


def has_library(name):
    return find("pkg-config") and subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0


def build(clients):
    for client in clients:
        client.build()
