// BenchOptionsTests: the command line of `lupine bench`, and its files of requests.

#if Bench
  import Foundation
  import Glibc
  import LupineBench
  @testable import LupineCommand
  import LupineEngine
  import LupineOrigin
  import LupineTestSupport
  import Testing

  @Suite("Command-line options of lupine bench")
  struct BenchOptionsTests {
    @Test("the bench command accepts its options before and after the URL, and passes all others to the request")
    func spellings() throws {
      let options = try BenchOptions([
        "--rate=50", "-H", "A: b", "http://localhost/", "--duration", "2m", "--warm-up", "500ms", "--requests", "9",
        "-d", "x", "--fail-if", "p99>50ms", "--json", "report.json", "--poisson", "7", "--quiet",
      ])
      #expect(options.rest == ["-H", "A: b", "http://localhost/", "-d", "x"])
      #expect(options.objectives.map(\.text) == ["p99>50ms"])
      #expect(options.paths == [.json: "report.json"])
      #expect(options.isQuiet)
      var plan = LoadPlan(.open([RateStage(duration: .seconds(120), rate: 50)], .poisson(seed: 7)))
      (plan.warmUp, plan.requestsMax) = (.milliseconds(500), 9)
      #expect(options.plan == plan)
    }

    @Test("stages and closed loops are other loads")
    func loads() throws {
      let stages = try BenchOptions(["--stages", "10s:100,1m:1000,500ms:0"]).plan
      #expect(
        stages.loop
          == .open(
            [
              RateStage(duration: .seconds(10), rate: 100), RateStage(duration: .seconds(60), rate: 1_000),
              RateStage(duration: .milliseconds(500), rate: 0),
            ], .even))
      #expect(try BenchOptions(["--in-flight", "8"]).plan.loop == .closed(inFlight: 8, .seconds(10)))
    }

    @Test(
      "the bench command refuses an invalid command line",
      arguments: [
        (["--rate", "0"], "--rate takes a rate up to 1000000 requests per second, not \"0\""),
        (["--duration", "10x"], "--duration takes a time such as 500ms, 10s, 5m or 1h, not \"10x\""),
        (["--stages", "10s"], "--stages takes TIME:RATE, separated by commas, not \"10s\""),
        (["--in-flight", "0"], "--in-flight takes 1 to 100000, not \"0\""),
        (["--rate", "5", "--in-flight", "5"], "--in-flight is a closed loop, which has no --rate and no --stages"),
        (["--warm-up", "10s"], "--warm-up must be shorter than the test"),
        (["--fail-if", "p99"], "--fail-if takes a condition such as 'p99>50ms' or 'errors>0.1%', not \"p99\""),
        (["--fresh=1"], "--fresh takes no value"), (["--csv"], "--csv needs a value"),
        (["--sse", "--ws"], "only one of --sse, --lines and --ws is possible"),
        (["--sse", "--every", "1s"], "--message and --every require --ws"),
        (["--hold", "1s"], "--hold requires --sse, --lines or --ws"),
        (["--lines", "--locust-master", "h"], "--locust-master has no figures for streams; remove --lines"),
        (["--ws", "--fresh"], "--ws always opens connections; remove --fresh"),
        (["-duration", "5s"], "-duration has one dash too few; write --duration"),
        (["-rate=5"], "-rate has one dash too few; write --rate"),
        (["--stages", "1s:5", "--duration", "5s"], "--stages contains the times; leave out --duration"),
        (["--in-flight", "5", "--poisson", "7"], "--in-flight is a closed loop; remove --poisson"),
        (["--in-flight", "5", "--in-flight-max", "9"], "--in-flight is a closed loop; remove --in-flight-max"),
        (["--feed", "f"], "--feed fills the requests of a file; add --from FILE"),
      ])
    func refused(arguments: [String], reason: String) {
      #expect(throws: CommandError(.usage, "\(reason): see lupine bench --help")) { try BenchOptions(arguments) }
    }

    @Test(
      "a worker of Locust refuses the options that it would ignore",
      arguments: [
        ("stages", "1s:5"), ("in-flight", "5"), ("duration", "5s"), ("warm-up", "1s"), ("requests", "9"),
        ("poisson", "7"), ("watch-pid", "1"), ("fail-if", "p99>1s"), ("json", "f"), ("csv", "f"), ("hgrm", "f"),
        ("prometheus", "f"), ("otlp", "f"), ("junit", "f"), ("html", "f"),
      ])
    func refusedByWorker(name: String, value: String) throws {
      let reason = "a Locust master controls the load and reports it; remove --\(name)"
      #expect(throws: CommandError(.usage, "\(reason): see lupine bench --help")) {
        try BenchOptions(["--locust-master", "h", "--\(name)", value])
      }
      #expect(try BenchOptions(["--locust-master", "h", "--rate", "5", "--hlog", "f"]).paths == [.hlog: "f"])
    }

    @Test("only a search has a highest rate, and it writes no report")
    func searchOptions() throws {
      let limited = try BenchOptions(["--up-to", "5"])
      try limited.check(isSearch: true)
      #expect(
        throws: CommandError(
          .usage,
          "--up-to limits lupine bench search; write search before the options, or remove it: see lupine bench --help")
      ) { try limited.check(isSearch: false) }
      for (name, value) in [("json", "f"), ("hlog", "f"), ("watch-pid", "1"), ("locust-master", "h")] {
        let options = try BenchOptions(["--\(name)", value])
        try options.check(isSearch: false)
        #expect(
          throws: CommandError(
            .usage, "search finds a rate, and writes no report; remove --\(name): see lupine bench --help")
        ) { try options.check(isSearch: true) }
      }
    }

    @Test("the options of streams name the format, and the request asks for it")
    func streams() throws {
      #expect(try BenchOptions(["--lines", "u"]).streamFormat == .lines)
      let events = try BenchOptions(["--sse", "--hold", "5s", "u"])
      #expect(events.streamFormat == .events && events.hold == .seconds(5) && events.rest == ["--sse", "u"])
      let sockets = try BenchOptions(["--ws", "--message", "hi", "--every", "20ms", "u"])
      #expect(sockets.streamFormat == .echoes(of: "hi", every: .milliseconds(20)) && sockets.rest == ["--ws", "u"])
      #expect(try BenchOptions(["--ws"]).streamFormat == .echoes(of: "lupine", every: .seconds(1)))
      #expect(try BenchOptions(["u"]).streamFormat == nil)
    }

    @Test("CSV fields may be quoted, and contain commas, line breaks and quotation marks")
    func csv() {
      let text = "id,name\r\n1,\"a, \"\"b\"\"\"\n\n2,\"x\ny\"\r\n3,"
      #expect(CSV.records(text) == [["id", "name"], ["1", "a, \"b\""], ["2", "x\ny"], ["3", ""]])
    }

    @Test("a row of the feed fills the placeholders in the URL, the fields and the body")
    func placeholders() {
      let template = RequestTemplate(
        url: "http://h/{{id}}", fields: ["X-{{id}}": "{{name}}"], body: "{\"name\": \"{{name}}\", \"x\": {}}")
      #expect(template.placeholders == ["id", "name"])
      let filled = template.filled(with: ["id": "7", "name": "Ada"])
      #expect(filled.url == "http://h/7")
      #expect(filled.fields == ["X-7": "Ada"])
      #expect(filled.body == "{\"name\": \"Ada\", \"x\": {}}")
    }
  }

  extension BenchOptionsTests {
    @Test("the requests of a file open WebSockets at ws and wss URLs, but only with --ws")
    func webSocketURLs() throws {
      let base = EngineRequest(uri: try URI("http://localhost/"))
      for (url, expected) in [("ws://h/a", "http://h/a"), ("wss://h/a", "https://h/a"), ("http://h/a", "http://h/a")] {
        let template = RequestTemplate(url: url)
        #expect(try template.request(base, opensWebSocket: true).uri == URI(expected))
      }
      #expect(throws: CommandError.self) { try RequestTemplate(url: "ws://h/").request(base, opensWebSocket: false) }
    }
  }

  @Suite("Runs of lupine bench", .timeLimit(.minutes(10)))
  struct BenchRunTests {
    private func server() throws -> OriginServer {
      try OriginServer { peer in
        while let request = try peer.readHead() {
          try peer.respond(status: request.target == "/missing" ? 404 : 200, body: Array("ok".utf8))
        }
      }
    }

    @Test(
      "the requests of a file are sent in the ratio of their weights, with values of the feed, and reported by name")
    func requestsOfAFile() async throws {
      let (server, folder) = (try server(), try Folder())
      defer { server.stop() }
      let requests = try folder.write(
        "requests",
        """
        {"name": "found", "url": "\(server.url)/{{id}}", "weight": 3}
        {"name": "missing", "url": "\(server.url)/missing"}

        """)
      let feed = try folder.write("feed", "id\n1\n2\n")
      let run = try await lupine([
        "bench", "--from", requests, "--feed", feed, "--in-flight", "2", "--requests", "40", "--json", "-", "--quiet",
        "--fail-if", "errors>25%", "--fail-if", "errors<10",
      ])
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(run.output.contains("statuses    200: 30, 404: 10\n"), "\(run.output)")
      #expect(run.output.contains("\"name\":\"found\",\"completed\":30,\"errors\":0"), "\(run.output)")
      #expect(run.output.contains("\"name\":\"missing\",\"completed\":10,\"errors\":10"), "\(run.output)")
    }

    @Test("each request of a file is sent with each row of the feed, in turn")
    func rowsInTurn() async throws {
      let (targets, folder) = (Recorder<String>(), try Folder())
      let server = try OriginServer { peer in
        while let request = try peer.readHead() {
          targets.record(request.target)
          try peer.respond()
        }
      }
      defer { server.stop() }
      let requests = try folder.write(
        "requests", "{\"url\": \"\(server.url)/a/{{id}}\"}\n{\"url\": \"\(server.url)/b/{{id}}\"}\n")
      let run = try await lupine([
        "bench", "--from", requests, "--feed", try folder.write("feed", "id\n1\n2\n"), "--in-flight", "1",
        "--requests", "4", "--quiet",
      ])
      #expect(run.status == 0, "\(run.errors)")
      #expect(await targets.first(4) == ["/a/1", "/b/1", "/a/2", "/b/2"])
    }

    @Test(
      "each request opens a connection with --fresh, and none without; an open loop opens connections before the first request"
    )
    func connections() async throws {
      let server = try server()
      defer { server.stop() }
      let arguments = ["bench", "--in-flight", "1", "--requests", "10", "--quiet", server.url]
      #expect(try await lupine(arguments).output.contains("connections 1 opened\n"))
      #expect(try await lupine(arguments + ["--fresh"]).output.contains("connections 10 opened\n"))
      let open = ["bench", "--requests", "1", "--quiet", server.url, "--rate"]
      // A connection for each 5 ms between requests.
      #expect(try await lupine(open + ["200"]).output.contains("connections 1 opened, 1 of them in advance\n"))
      #expect(try await lupine(open + ["190"]).output.contains("connections 1 opened\n"))
    }

    @Test(
      "options of other load generators, and those that mean something else or nothing here, are errors that say what to write",
      arguments: [
        (
          ["-n", "1000"],
          "-n reads a netrc file, as in curl; for the number of requests, write --requests NUMBER; for the file, --netrc"
        ),
        (
          ["-c100"],
          "-c isn't an option; for a closed loop, write --in-flight NUMBER; for the most connections, --connections NUMBER"
        ),
        (["-d", "3s"], "-d posts data, as in curl; for the duration, write --duration 3s; to post 3s, --data 3s"),
        (["-kd30"], "-d posts data, as in curl; for the duration, write --duration 30; to post 30, --data 30"),
        (["-z", "5s"], "-z isn't an option; for the duration, write --duration TIME"),
        (
          ["-u", "10"],
          "-u is a login, as in curl; for the number of requests in flight, write --in-flight 10; for the login, --user"
        ),
        (["-m", "PUT"], "-m limits the time of a request, as in curl; for the method, write -X PUT"),
        (["--vus", "10"], "--vus isn't an option; write --in-flight NUMBER"),
        (
          ["-o", "csv"],
          "--output has no effect in a load test, which discards bodies; for a file of results, write --json, --csv or --html FILE"
        ),
        (["-L"], "a load test follows no redirects; write the final URL instead of --location"),
        (["--digest"], "a load test sends logins without a challenge; remove --digest, or write a scenario in Swift"),
        (["-J"], "-J isn't an option"),
      ])
    func misleadingOptions(arguments: [String], reason: String) async throws {
      let run = try await lupine(["bench"] + arguments + ["http://127.0.0.1:9/"])
      #expect(run.status == ExitCode.usage.rawValue)
      #expect(run.errors == "lupine: \(reason): see lupine bench --help\n")
    }

    @Test(
      "a load test without a URL, or with an invalid one, is an error; only --help prints the help",
      arguments: [
        ([], "a URL is missing: see lupine bench --help"),
        (["--rate", "10", "-H", "A: b"], "a URL is missing: see lupine bench --help"),
        (["http:/x"], "the URL is invalid: two slashes must follow \"http:\". Write http://HOST/PATH."),
        (
          ["--watch-pid", "\(Int32.max)", "http://127.0.0.1:9/"],
          "--watch-pid \(Int32.max) names no process that runs here: see lupine bench --help"
        ),
      ])
    func invalidCommandLine(arguments: [String], reason: String) async throws {
      let run = try await lupine(["bench"] + arguments)
      #expect(run.status == ExitCode.usage.rawValue && run.output.isEmpty)
      #expect(run.errors == "lupine: \(reason)\n")
    }

    @Test("the report contains the use of the processor and of memory by the process of --watch-pid")
    func watchedProcess() async throws {
      let server = try server()
      defer { server.stop() }
      let process = ProcessInfo.processInfo.processIdentifier
      let run = try await lupine([
        "bench", "--in-flight", "1", "--requests", "10", "--quiet", "--watch-pid", "\(process)", server.url,
      ])
      #expect(
        run.status == 0 && run.output.contains(/\nwatched     \d+ % of a core, [\d.]+ [kMG]B of memory\n/), "\(run)")
    }

    @Test("the progress shows each whole second once, and no rest of a second")
    func progress() async throws {
      let server = try server()
      defer { server.stop() }
      let second = try await lupine(["bench", "--rate", "50", "--duration", "1s", server.url])
      #expect(second.errors.split(separator: "\n").count { $0.hasPrefix("1 s of 1 s: ") } == 1, "\(second.errors)")
      // The answers are no events, so there are no latencies.
      let streams = try await lupine(["bench", "--sse", "--rate", "50", "--duration", "1s", server.url])
      #expect(streams.errors.contains(", no answers, ") && !streams.errors.contains("p50"), "\(streams.errors)")
      let requests = try await lupine(["bench", "--in-flight", "1", "--requests", "2", server.url])
      #expect(requests.status == 0 && !requests.errors.contains("0 s of 10 s"), "\(requests.errors)")
    }

    @Test("if no request is answered, the report names the reason in words with its remedy, and shows no latencies")
    func unanswered() async throws {
      let server = try server()
      server.stop()
      let run = try await lupine(["bench", "--in-flight", "1", "--requests", "3", "--quiet", server.url])
      #expect(run.status == 0, "\(run)")
      #expect(
        run.output.contains(
          """
          errors      3 (100.00 %): connection refused 3
                      connection refused: \(server.url): no server listens on the port. Check host and port, and that the server is running.
          connections 0 opened

          """), "\(run.output)")
      #expect(run.output.contains("\nlatency     none, because no request was answered\n"), "\(run.output)")
      #expect(!run.output.contains("p50"), "\(run.output)")
    }

    @Test("a condition that an invalid test meets is printed, and the exit status is that of an invalid test")
    func invalidTest() async throws {
      let server = try server()
      defer { server.stop() }
      // A million requests per second are more than one thread sends.
      let run = try await lupine([
        "bench", "--rate", "1000000", "--requests", "20000", "--in-flight-max", "100000", "--connections", "1",
        "--quiet", "--fail-if", "late>1%", server.url,
      ])
      #expect(run.status == ExitCode.generatorOverloaded.rawValue, "\(run)")
      #expect(
        run.output.contains("\nINVALID: the generator sent ") && run.output.contains("\nFAILED: late>1%: it was "))
    }

    @Test("the options of a request work in a load test: any method, logins, addresses for names, and proxies")
    func requestOptions() async throws {
      let heads = Recorder<String>()
      let server = try OriginServer { peer in
        while let request = try peer.readRequest() {
          let (host, login) = (request.fields.first("Host") ?? "", request.fields.first("Authorization") ?? "")
          heads.record(
            "\(request.method) \(request.target) \(host) \(login) \(String(decoding: request.body, as: UTF8.self))")
          try peer.respond()
        }
      }
      defer { server.stop() }
      let port = server.url.split(separator: ":").last ?? ""
      let load = ["bench", "--in-flight", "1", "--requests", "1", "--quiet"]
      let query = try await lupine(
        load + [
          "-X", "QUERY", "--data", "3s", "-u", "a:b", "--resolve", "load.test:\(port):127.0.0.1",
          "http://load.test:\(port)/x",
        ])
      #expect(query.status == 0 && query.output.contains("statuses    200: 1\n"), "\(query.output)\(query.errors)")
      let proxied = try await lupine(load + ["--proxy", server.url, "http://load.test/y"])
      #expect(proxied.status == 0, "\(proxied.errors)")
      #expect(
        await heads.first(2) == ["QUERY /x load.test:\(port) Basic YTpi 3s", "GET http://load.test/y load.test  "])
    }

    @Test("--connections limits the connections, for which requests wait")
    func connectionLimit() async throws {
      let server = try server()
      defer { server.stop() }
      let run = try await lupine([
        "bench", "--in-flight", "8", "--connections", "2", "--requests", "40", "--quiet", server.url,
      ])
      #expect(run.status == 0 && run.output.contains("connections 2 opened\n"), "\(run.output)")
    }

    @Test("--sse reports events, gaps and cut streams, and a condition on them has its exit status")
    func eventStreams() async throws {
      let server = try OriginServer { peer in
        while let request = try peer.readHead() {
          #expect(request.fields.first("Accept") == "text/event-stream")
          try peer.beginChunked(fields: ["Content-Type": "text/event-stream"])
          for _ in 0..<4 { try peer.chunk("data: x\n\n") }
          if request.target == "/cut" { return peer.close() }
          try peer.endChunked()
        }
      }
      defer { server.stop() }
      let load = ["bench", "--sse", "--in-flight", "1", "--requests", "5", "--quiet", "--fail-if", "cut>0"]
      let run = try await lupine(load + ["--json", "-", "--otlp", "/dev/null", server.url])
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains("streams     5 opened, 0 open at the end, 5 ended by the server"), "\(run.output)")
      #expect(run.output.contains("\"events\":20,"), "\(run.output)")
      let cut = try await lupine(load + ["\(server.url)/cut"])
      #expect(cut.status == ExitCode.objectiveMissed.rawValue && cut.output.contains("FAILED: cut>0: it was 5\n"))
    }

    @Test("--ws sends messages over each connection, and reports their echoes")
    func webSockets() async throws {
      let server = try OriginServer { try ServerSocket($0)?.echo() }
      defer { server.stop() }
      let run = try await lupine([
        "bench", "--ws", "--message", "ping", "--every", "5ms", "--in-flight", "2", "--duration", "300ms", "--quiet",
        "--fail-if", "echo-p50>60s", "ws" + server.url.dropFirst(4),
      ])
      // On a busy machine, messages may be sent so late that the load test is invalid.
      #expect([0, ExitCode.generatorOverloaded.rawValue].contains(run.status), "\(run.errors)")
      #expect(
        run.output.contains("streams     2 opened, 0 open at the end, 0 ended by the server, 2 closed"), "\(run.output)"
      )
      #expect(run.output.contains("echo since due") && run.output.contains(", 0 without an echo"), "\(run.output)")
    }

    @Test("each trial of a search has its own connections, because requests of the trial before may be unfinished")
    func search() async throws {
      let events = Recorder<String>()
      let server = try OriginServer { peer in
        events.record("connection")
        while try peer.readHead() != nil { try peer.respond() }
      }
      defer { server.stop() }
      let run = try await lupine([
        "bench", "search", "--fail-if", "errors>0", "--rate", "50", "--up-to", "100", "--requests", "1", server.url,
      ])
      events.record("end")
      // On a busy machine, the request may be sent so late that a trial is invalid, which ends the search.
      guard run.status != ExitCode.generatorOverloaded.rawValue else { return }
      #expect(run.status == 0 && run.output.contains("50.0 per second: met\n100.0 per second: met\n"), "\(run)")
      #expect(await events.first(2) == ["connection", "connection"])
    }

    @Test("a condition that is met has its own exit status, and JUnit's report names it")
    func objectives() async throws {
      let server = try server()
      defer { server.stop() }
      let run = try await lupine([
        "bench", "--in-flight", "1", "--requests", "10", "--quiet", "--fail-if", "errors>50%", "--junit", "-",
        "\(server.url)/missing",
      ])
      #expect(run.status == ExitCode.objectiveMissed.rawValue, "\(run.errors)")
      #expect(run.output.contains("FAILED: errors>50%: it was 100.000 %\n"), "\(run.output)")
      #expect(run.output.contains("<failure message=\"errors&gt;50%: it was 100.000 %\"/>"), "\(run.output)")
    }

    @Test("an interrupted test prints its report, and has its own exit status")
    func interrupted() async throws {
      let (received, folder) = (Recorder<String>(), try Folder())
      let server = try OriginServer { peer in
        while let request = try peer.readHead() {
          received.record(request.target)
          try peer.respond()
        }
      }
      defer { server.stop() }
      let output = try folder.write("output", "")
      let process = try ChildProcess(
        [try commandPath(), "bench", "--rate", "100", "--duration", "1h", "--quiet", server.url], output: .file(output))
      #expect(await received.next() == "/")
      kill(process.processIdentifier, SIGINT)
      #expect(await process.end() == ExitCode.interrupted.rawValue)
      let text = try folder.read("output")
      #expect(text.contains(/due +\d+ requests in \d/) && text.contains("statuses    200: "), "\(text)")
    }

    @Test("two reports are compared, logs are merged, and files of another kind are refused")
    func files() async throws {
      let (server, folder) = (try server(), try Folder())
      defer { server.stop() }
      let (report, log) = (try folder.write("report", ""), try folder.write("log", ""))
      let run = try await lupine([
        "bench", "--in-flight", "1", "--requests", "10", "--quiet", "--json", report, "--hlog", log, server.url,
      ])
      #expect(run.status == 0, "\(run.errors)")
      let comparison = try await lupine(["bench", "compare", report, report])
      #expect(comparison.status == 0 && comparison.output.contains("too few seconds"), "\(comparison.output)")
      let merged = try await lupine(["bench", "merge", log, log])
      #expect(merged.output.split(separator: "\n").count { $0.contains("HISTF") } == 2, "\(merged.output)")
      #expect(try await lupine(["bench", "compare", log, log]).status == ExitCode.unreadableInput.rawValue)
      #expect(try await lupine(["bench", "merge", report]).errors.contains("line 1 of \(report) isn't an interval"))
      let full = try await shell("$lupine bench merge \(log) >/dev/full")
      #expect(full.status == ExitCode.writeError.rawValue && full.errors.contains("standard output can't be written"))
    }

    @Test("a log that can't be created prevents the test, and one that can't be written is an error after the report")
    func logs() async throws {
      let server = try server()
      defer { server.stop() }
      let load = ["bench", "--in-flight", "1", "--requests", "1", "--quiet", server.url, "--hlog"]
      let missing = try await lupine(load + ["/missing/log"])
      #expect(missing.status == ExitCode.writeError.rawValue && missing.output.isEmpty, "\(missing)")
      #expect(missing.errors.hasPrefix("lupine: /missing/log can't be written"), "\(missing)")
      let full = try await lupine(load + ["/dev/full"])
      #expect(full.status == ExitCode.writeError.rawValue && full.output.contains("completed   1,"), "\(full)")
      let printed = try await lupine(load + ["-"])
      #expect(printed.status == 0 && printed.output.hasPrefix("#[Histogram log format version 1.3]\n"), "\(printed)")
      #expect(printed.output.contains("completed   1,"), "\(printed)")
    }
  }
#endif
