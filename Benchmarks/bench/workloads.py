"""The workloads: the work of the clients, and the targets that the figures must meet."""

from dataclasses import replace

from . import fixtures, server
from .cases import BODIES, IDLE, STARTS, Case, CodedRow, Row, Target, Workload
from .clients import CLIENTS


def row(client, title="", name="", *arguments, path="", expected_output=None):
    found = CLIENTS[client]
    arguments = tuple(str(argument) for argument in arguments)
    return Row(found, title or found.title, name or client, arguments, path, expected_output)


def obligations(*arguments):
    """A row with the lower bound of the API's cost: only the queues, the notifications, the URL and the task."""
    return row("load-api", "The API's contract, nothing else", "obligations", "--mode", "obligations", *arguments)


def small(in_flight):
    """A case with small responses, and this number of requests in flight."""
    engine_of_loop = row("load-engine-async", "Lupine's engine, async on its loop", "on-loop", "--mode", "loop")
    api_of_loop = row("load-api", "Lupine, Alamofire's API, on its loop", "api-on-loop", "--mode", "loop")
    rows = [
        row("load-api"), api_of_loop, obligations(), row("load-engine-async"), engine_of_loop,
        row("load-engine-callback"), row("lupine-bench"), row("curl-multi"), row("hyper"), row("go"),
        row("async-http-client"), row("urlsession"), row("wrk"),
    ]  # fmt: skip
    if in_flight == 1:
        rows.insert(1, row("load-api", "Lupine, Alamofire's API, busyPoll 50 µs", "polling", "--busy-poll", 50))
        rows.insert(3, row("load-api", "Lupine, Alamofire's API, on its loop, busyPoll 50 µs", "polling-on-loop",
                           "--mode", "loop", "--busy-poll", 50))
    targets = {
        64: (
            Target("Callbacks: CPU relative to wrk", "load-engine-callback", "cpu", ("wrk",), at_most=1.05),
            Target("Callbacks: requests/s relative to hyper", "load-engine-callback", "rate", ("hyper",), at_least=1.4),
            Target("Async on the loop: requests/s relative to hyper", "on-loop", "rate", ("hyper",), at_least=1.15),
            Target("API: requests/s relative to libcurl", "load-api", "rate", ("curl-multi",), at_least=1.1),
            Target("API: requests/s relative to Go", "load-api", "rate", ("go",), at_least=1.1),
            Target("API: requests/s relative to AsyncHTTPClient", "load-api", "rate", ("async-http-client",), at_least=3),
            Target("API: requests/s relative to URLSession", "load-api", "rate", ("urlsession",), at_least=18),
            Target("API on the loop: requests/s relative to libcurl", "api-on-loop", "rate", ("curl-multi",),
                   at_least=1.25),
        ),
        8: (Target("API: requests/s relative to libcurl", "load-api", "rate", ("curl-multi",), at_least=0.9),),
        1: (
            Target("API: requests/s relative to libcurl", "load-api", "rate", ("curl-multi",), at_least=0.75),
            Target("API with busyPoll: requests/s relative to libcurl", "polling", "rate", ("curl-multi",), at_least=1.1),
        ),
    }  # fmt: skip
    return Case(
        f"{in_flight} in flight", rows, in_flight=in_flight, requests=100_000 if in_flight > 1 else 50_000,
        targets=targets.get(in_flight, ()))


def default_session(in_flight):
    """A case with small responses in a session that has the default cache, compared with clients that have no cache."""
    cache, distinct = ("--cache", 1), ("--paths", 100_000)
    rows = [
        row("load-api", "Lupine, default session", "default", *cache),
        row("load-api", "Lupine, default session, distinct URLs", "distinct", *cache, *distinct),
        # The warm-up has stored a tenth of them.
        row("load-api", "Lupine, default session, distinct URLs, stored", "stored", *cache, *distinct, path="/fresh"),
        row("load-api", "Lupine, default session, hits", "hits", *cache, path="/fresh"),
        row("load-api", "Lupine, no cache", "uncached"), obligations(), row("curl-multi"), row("go"),
    ]
    at_most = {1: 1 / 0.8, 64: 1 / 1.4}[in_flight]
    targets = (Target("Default session: CPU relative to libcurl", "default", "cpu", ("curl-multi",), at_most=at_most),)
    return Case(
        f"{in_flight} in flight", rows, in_flight=in_flight, requests=100_000 if in_flight > 1 else 50_000, targets=targets)


def decoded(size, requests):
    """A case in which JSON of the given kind is decoded into a type of the client's language."""
    bytes_ = fixtures.JSON_BYTES[size]
    kind = "wide" if size == "wide" else "page"
    mode = "wide" if size == "wide" else "decodable"
    rows = [
        row("load-api", "serializingDecodable()", "decodable", "--mode", mode),
        row("load-api", "serializingData()", "data", "--body-bytes", bytes_),
        row("hyper", "hyper 0.14 with serde_json", "", "--decode", kind),
        row("go", "Go's net/http with encoding/json", "", "--decode", kind),
        row("urlsession", "URLSession on Linux with JSONDecoder", "", "--mode", mode),
    ]  # fmt: skip
    targets = [
        Target("Decodable: CPU relative to Go", "decodable", "cpu", ("go",), at_most=1 / 1.2),
        Target("Decodable: CPU relative to hyper", "decodable", "cpu", ("hyper",), at_most=3),
    ]
    if kind == "page":
        both = row("load-api", "serializingData() and a separate JSONDecoder", "by-hand", "--mode", "data-then-decode")
        rows.insert(1, both)
        targets.append(Target("Decodable: CPU relative to data plus decoding", "decodable", "cpu", ("by-hand",), at_most=1.1))
    title = f"JSON of {bytes_ // 1024} KiB" + (" with 60 keys for each object" if kind == "wide" else "")
    return Case(title, rows, path=f"/files/{size}.json", requests=requests, in_flight=64, targets=tuple(targets))


def cpu_targets(peer, bound, **rows):
    return tuple(
        Target(f"{text}: CPU relative to {CLIENTS[peer].title}", name, "cpu", (peer,), at_most=bound)
        for name, text in rows.items())


def bodies(title, rows, path, **more):
    more = {"columns": BODIES, "requests": 4, "in_flight": 1, "body_bytes": fixtures.ZEROS_BYTES, **more}
    return Case(title, rows, path=path, **more)


def downloads(folders):
    size = ("--body-bytes", fixtures.ZEROS_BYTES)
    to_memory = [
        row("load-api", "Lupine, streamRequest()", "load-api", "--mode", "stream", *size),
        row("load-engine-callback", "", "", *size), row("curl-multi", "", "", *size), row("hyper", "", "", *size),
        row("go", "", "", *size), row("async-http-client", "", "", *size),
    ]  # fmt: skip
    file = ("--download", folders.download, *size)
    to_file = [
        row("load-api", "Lupine, download(to:)", "load-api", "--mode", "download", *file),
        row("curl", "curl -o", "", "-o", folders.download, expected_output=""), row("hyper", "", "", *file),
        row("go", "", "", *file),
    ]  # fmt: skip
    targets = (
        *cpu_targets("curl-multi", 1.05, **{"load-engine-callback": "Callbacks"}),
        *cpu_targets("curl-multi", 1.3, **{"load-api": "API"}),
    )
    return [
        bodies("1 GiB, counted and discarded", to_memory, "/files/zeros", targets=targets),
        bodies("1 GiB into a file", to_file, "/files/zeros", targets=cpu_targets("curl", 1.05, **{"load-api": "API"})),
    ]  # fmt: skip


def uploads(folders):
    file = ("--upload", folders.zeros)
    bare = ("-X", "POST", "-H", "Expect:", "-H", "Content-Type:", "-T", folders.zeros)
    rows = [
        row("load-api", "Lupine, upload()", "load-api", "--mode", "upload", *file),
        row("load-engine-callback", "", "", *file), row("curl-multi", "", "", *file),
        row("curl", "curl -T", "", *bare, expected_output=str(fixtures.ZEROS_BYTES)),
        row("hyper", "hyper 0.14, from memory", "", *file), row("go", "", "", *file),
    ]  # fmt: skip
    engine = {"load-engine-callback": "Callbacks", "load-api": "API"}
    return [
        bodies("1 GiB from a file", rows, "/upload", targets=cpu_targets("curl-multi", 1.05, **engine))
    ]  # fmt: skip


def coded(coding, library):
    """A case that decodes text with a content coding, and compares that with the library alone and the transfer alone."""
    path, plain = f"/coded/{coding}/text.{coding}", f"/files/text.{coding}"
    size = ("--body-bytes", fixtures.TEXT_BYTES)

    def cases(folders):
        # For the rows "transfer alone", the server sends the same bytes without Content-Encoding, so that the client doesn't
        # decode them.
        file = f"{folders.state}/files/text.{coding}"
        rows = [
            row("load-engine-callback", "", "", *size), row("load-api", "Lupine, streamRequest()", "load-api",
                                                            "--mode", "stream", *size),
            row("curl", "curl --compressed", "", "--compressed", "-o", "/dev/null", expected_output=""),
            row("coding", f"{library} alone, in one call", "", coding, "decode", file, fixtures.TEXT_BYTES),
            CodedRow.of(row("load-engine-callback", "transfer alone, engine", "transfer", path=plain), file),
            CodedRow.of(row("load-api", "transfer alone, streamRequest()", "api-transfer", "--mode", "stream",
                            path=plain), file),
        ]  # fmt: skip
        targets = (
            # The bound is on speed, the reciprocal of CPU time: at least 0.95 times the speed means at most 1 / 0.95, about
            # 1.05, times the CPU time.
            Target(f"Callbacks: CPU relative to transfer plus {library}", "load-engine-callback", "cpu",
                   ("coding", "transfer"), at_most=1.05),
            Target(f"API: CPU relative to transfer plus {library}", "load-api", "cpu", ("coding", "api-transfer"),
                   at_most=1.05),
        )  # fmt: skip
        return [
            bodies(f"50 MB of text in {coding}", rows, path, requests=10, body_bytes=fixtures.TEXT_BYTES,
                   targets=targets)
        ]  # fmt: skip

    return cases


def tls_rows(folders, *names):
    return [row(name, "", "", "--ca", folders.authority) for name in names]


def tls_requests(folders):
    names = ["load-api", "load-engine-async", "load-engine-callback", "curl-multi", "go", "async-http-client"]
    targets = tuple(
        Target(f"{text}: requests/s relative to Go", name, "rate", ("go",), at_least=bound)
        for name, text, bound in [("load-api", "API", 0.95), ("load-engine-callback", "Callbacks", 1.2)])
    rows = [*tls_rows(folders, *names), obligations("--ca", folders.authority)]
    return [Case("Kept-alive connections, 64 in flight", rows, origin=server.TLS, targets=targets)]


def tls_new(folders):
    names = ["load-api", "load-engine-callback", "curl-multi", "go"]
    targets = tuple(
        Target(f"{text}: requests/s relative to Go", name, "rate", ("go",), at_least=1)
        for name, text in [("load-api", "API"), ("load-engine-callback", "Callbacks")])
    rows = tls_rows(folders, *names)
    case = Case("", rows, path="/once", requests=5000, in_flight=8, targets=targets)
    return [
        replace(case, title="A new connection for each request, sessions resumed", origin=server.TLS),
        replace(case, title="A new connection for each request, full handshakes",
                origin=server.TLS_WITHOUT_RESUMPTION,
                targets=tuple(replace(target, at_least=0.72) for target in targets)),
    ]  # fmt: skip


def tls_bulk(folders):
    more = ("--ca", folders.authority, "--body-bytes", fixtures.ZEROS_BYTES)
    rows = [
        row("load-api", "Lupine, streamRequest()", "load-api", "--mode", "stream", *more),
        row("load-engine-callback", "", "", *more), row("curl-multi", "", "", *more), row("go", "", "", *more),
        row("async-http-client", "", "", *more),
    ]  # fmt: skip
    targets = tuple(
        Target(f"{text}: MiB/s relative to libcurl", name, "mib_per_second", ("curl-multi",), at_least=0.95)
        for name, text in [("load-api", "API"), ("load-engine-callback", "Callbacks")])
    return [bodies("1 GiB over TLS, counted and discarded", rows, "/files/zeros", origin=server.TLS, targets=targets)]


def idle(folders):
    def case(title, connections, bound, origin, *arguments):
        target = Target("Allocated per connection, KiB", "load-idle", "allocated", at_most=bound)
        return Case(
            title, [row("load-idle", "", "", *arguments)], IDLE, origin, "/refused", requests=connections,
            in_flight=connections, warm_up=16, targets=(target,))

    return [
        case("10,000 idle connections", 10_000, 6, server.PLAIN),
        case("2,000 idle TLS connections", 2_000, 40, server.TLS, "--ca", folders.authority),
    ]  # fmt: skip


def origins(_):
    many = ("--origins", server.MANY_ORIGINS_COUNT)
    names = ["load-api", "load-engine-callback", "curl-multi", "hyper", "go"]
    new = Case(
        "1,000 requests to 1,000 origins, each on a new connection", [row(name, "", "", *many) for name in names],
        origin=server.MANY_ORIGINS, requests=server.MANY_ORIGINS_COUNT, warm_up=0)
    kept = []
    for name in ["load-api", "load-engine-callback", "curl-multi"]:
        title = CLIENTS[name].title
        kept += [row(name, f"{title}, 1 origin", f"{name}-1"), row(name, f"{title}, 1,000 origins", name, *many)]
    targets = tuple(
        Target(f"{text}: CPU with 1,000 origins relative to 1", name, "cpu", (f"{name}-1",), at_most=1.1)
        for name, text in [("load-api", "API"), ("load-engine-callback", "Callbacks")])
    return [
        new,
        # With 500 in flight, one origin has about 500 connections, and none of the 1,000 origins ever has two requests at
        # once, which would open a second connection.
        Case("Kept-alive connections to 1 and to 1,000 origins, 500 in flight", kept, origin=server.MANY_ORIGINS,
             requests=100_000, in_flight=500, targets=targets),
    ]  # fmt: skip


def connections(_):
    rows = []
    for name in ["load-api", "load-engine-callback", "hyper"]:  # curl-multi would take minutes
        few, many = row(name, f"{CLIENTS[name].title}, 64", f"{name}-64"), row(name, f"{CLIENTS[name].title}, 10,000")
        rows += [replace(few, in_flight=64), replace(many, in_flight=10_000)]
    targets = tuple(
        Target(f"{text}: CPU with 10,000 connections relative to 64", name, "cpu", (f"{name}-64",), at_most=1.5)
        for name, text in [("load-api", "API"), ("load-engine-callback", "Callbacks")])
    return [Case("64 and 10,000 connections, all in use", rows, targets=targets)]


def start(_):
    rows = [
        row("load-api-static"), row("load-engine-static"), row("go"), row("hyper"),
    ]  # fmt: skip
    return [
        Case("One request, from start to exit", rows, STARTS, requests=1, in_flight=1, warm_up=0, launches=50)
    ]  # fmt: skip


SMALL_LEVELS = (1, 8, 64, 256)

WORKLOADS = {
    workload.name: workload
    for workload in [
        Workload("small", "a response of 13 bytes, repeatedly", lambda _: [small(level) for level in SMALL_LEVELS]),
        Workload("default-session", "a response of 13 bytes, in a session with a cache",
                 lambda _: [default_session(level) for level in (1, 64)]),
        Workload("json-1k", "1 KiB of JSON, decoded into a type", lambda _: [decoded("1k", 50_000)], ("json",)),
        Workload("json-100k", "100 KiB of JSON, decoded into a type", lambda _: [decoded("100k", 2_000)], ("json",)),
        Workload("json-160k", "160 KiB of JSON, decoded into a type", lambda _: [decoded("160k", 2_000)], ("json",)),
        Workload("json-wide", "100 KiB of JSON in snake case with dates, of which a type names a quarter of the keys",
                 lambda _: [decoded("wide", 2_000)], ("json",)),
        Workload("download-1g", "1 GiB, counted in memory and written to a file", downloads, ("zeros",)),
        Workload("upload-1g", "1 GiB sent from a file", uploads, ("zeros",)),
        Workload("gzip-50m", "50 MB in gzip, compared with zlib alone", coded("gzip", "zlib"), ("text",),
                 clients=("coding",)),
        Workload("br-50m", "50 MB in brotli, compared with libbrotli alone", coded("br", "libbrotli"), ("text",),
                 clients=("coding",)),
        Workload("tls-requests", "small responses over TLS on kept-alive connections", tls_requests, ("certificate",),
                 ("openssl",)),
        Workload("tls-new", "a TLS handshake for each request, resumed and full", tls_new, ("certificate",),
                 ("openssl",)),
        Workload("tls-bulk", "1 GiB over TLS", tls_bulk, ("zeros", "certificate"), ("openssl",)),
        Workload("idle-10k", "memory per idle connection", idle, ("certificate",), ("openssl",)),
        Workload("origins-1k", "1,000 origins, new and kept-alive connections", origins, ("origins",)),
        Workload("connections-10k", "small responses on 10,000 connections", connections),
        Workload("start", "startup time and size of a static program", start, programs=("strip",)),
    ]
}  # fmt: skip
