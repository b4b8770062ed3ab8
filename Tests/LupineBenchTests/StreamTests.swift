// StreamTests: the figures of streams in synthetic time, and short load tests with streams of a local server.

#if Bench
  import LupineEngine
  import LupineJSON
  import LupineOrigin
  import Testing

  @testable import LupineBench

  @Suite struct StreamRecordTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test("the first event has no gap, and each further one has the time since the event before")
    func gaps() {
      var record = StreamRecord()
      #expect(record.noteEvents(at: start) == nil)
      #expect(record.noteEvents(at: start + .milliseconds(30)) == .milliseconds(30))
      #expect(record.noteEvents(at: start + .milliseconds(35)) == .milliseconds(5))
    }

    @Test(
      "each received message is the echo of the oldest one that awaits one, measured since it was due and since it was sent"
    )
    func echoes() {
      var record = StreamRecord()
      #expect(record.noteEcho(at: start) == nil)
      for index in 0..<2 {
        let due = start + .milliseconds(10 * index)
        #expect(record.noteMessage(due: due, sent: due + .milliseconds(index)) == true)
      }
      #expect(record.unansweredCount == 2)
      let now = start + .milliseconds(40)
      #expect(
        record.noteEcho(at: now) == StreamRecord.Echo(sinceDue: .milliseconds(40), sinceSent: .milliseconds(40)))
      #expect(
        record.noteEcho(at: now) == StreamRecord.Echo(sinceDue: .milliseconds(30), sinceSent: .milliseconds(29)))
      #expect(record.noteEcho(at: now) == nil)
    }

    @Test("a message isn't sent while a thousand await an echo")
    func limit() {
      var record = StreamRecord()
      for _ in 0..<StreamRecord.unansweredMax { #expect(record.noteMessage(due: start, sent: start) == true) }
      #expect(record.noteMessage(due: start, sent: start) == false)
      _ = record.noteEcho(at: start)
      #expect(record.noteMessage(due: start, sent: start) == true)
    }
  }

  @Suite struct StreamTotalsTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    /// The measurements of one second: two streams, of which one was cut, with three gaps, and a connection with two echoes.
    private var measured: Measurements {
      var measurements = Measurements(scenarioCount: 1, hasStreams: true)
      func add(_ event: StreamEvent, _ milliseconds: Int, isMeasured: Bool = true) {
        measurements.add(event, at: start + .milliseconds(milliseconds), isMeasured: isMeasured)
      }
      // A stream of the warm-up: it is open, but neither counted nor measured.
      add(.opened, 0, isMeasured: false)
      add(.events(count: 1, gap: .milliseconds(900)), 0, isMeasured: false)
      add(.opened, 10)
      add(.events(count: 1, gap: nil), 20)
      measurements.noteDue()
      measurements.noteLatency(
        0, due: start, sent: start + .milliseconds(1), end: start + .milliseconds(20), isAnswered: true)
      // Three events that arrived together have one gap before them, and none between them.
      add(.events(count: 3, gap: .milliseconds(100)), 120)
      measurements.end(.ended, after: .milliseconds(120), isMeasured: true)
      add(.opened, 200)
      measurements.end(.cut, after: .milliseconds(5), isMeasured: true)
      add(.message(delay: .zero), 300)
      add(.message(delay: .milliseconds(6)), 310)
      add(.message(delay: .zero), 320)
      add(.unsentMessage, 330)
      add(.received(StreamRecord.Echo(sinceDue: .milliseconds(8), sinceSent: .milliseconds(2))), 340)
      add(.received(StreamRecord.Echo(sinceDue: .milliseconds(4), sinceSent: .milliseconds(4))), 350)
      add(.received(nil), 360)
      _ = measurements.endSecond(
        at: .seconds(1), length: .seconds(1), target: 2, inFlight: 1, usage: nil, watched: nil)
      return measurements
    }

    private var report: LoadReport {
      LoadReport(
        LoadPlan(rate: 2, for: .seconds(1)), scenarioNames: ["s"], measured, unfinishedCount: 0, duration: .seconds(1),
        streamDuration: .seconds(2), use: nil)
    }

    @Test("events, gaps, echoes and endings are counted after the warm-up")
    func counts() throws {
      let streams = try #require(measured.streams)
      #expect(streams.openCount == 1 && streams.openedCount == 2 && streams.measuredOpenCount == 0)
      #expect(streams.count(.ended) == 1 && streams.count(.cut) == 1 && streams.count(.closed) == 0)
      #expect(streams.eventCount == 7)
      #expect(streams.gaps.count == 3 && streams.gaps.quantile(0.5) < .microseconds(1))
      #expect(abs(streams.gaps.max.milliseconds - 100) < 0.1)
      #expect(abs(streams.durations.max.milliseconds - 120) < 0.1)
      #expect(streams.messageCount == 3 && streams.lateMessageCount == 1 && streams.unsentMessageCount == 1)
      #expect(streams.unansweredCount == 1)
      #expect(abs(streams.echoesSinceDue.max.milliseconds - 8) < 0.01)
      #expect(abs(streams.echoesSinceSent.max.milliseconds - 4) < 0.01)
      #expect(streams.lastEvent == start + .milliseconds(360))
      let row = try #require(measured.seconds.first?.streams)
      #expect(row.openCount == 1 && row.eventCount == 7 && row.gapCount == 3 && row.echoCount == 2)
    }

    @Test("a test is invalid if more than 1 % of its messages were sent late")
    func invalid() { #expect(report.invalidity?.contains("33.3 % of the requests or messages") == true) }

    @Test(
      "conditions cover gaps, echoes, cut streams and events per second",
      arguments: [
        ("gap-p99>99ms", "gap-p99>99ms: it was 100 ms"), ("gap-p99>101ms", nil),
        ("echo-p99.9>7ms", "echo-p99.9>7ms: it was 8.00 ms"), ("echo-p50>5ms", nil), ("cut>0", "cut>0: it was 1"),
        ("cut>50%", nil), ("cut>49%", "cut>49%: it was 50.000 %"), ("events<4", "events<4: it was 3.5"),
        ("events<3.5", nil),
      ] as [(String, String?)])
    func objectives(text: String, violation: String?) throws {
      #expect(try #require(Objective(text)).violation(in: report) == violation)
    }

    @Test(
      "a condition of streams needs its unit",
      arguments: ["gap-p99>5", "echo-p99>5%", "cut>5ms", "events>5%", "gap>5ms"])
    func refused(text: String) { #expect(Objective(text) == nil) }

    @Test("the report's formats contain the figures of streams, and those of other tests don't")
    func formats() throws {
      let report = report
      #expect(
        report.text.contains(
          "streams     2 opened, 1 open at the end, 1 ended by the server, 0 closed after their time, 1 cut"))
      #expect(report.text.contains("events      7, 3.5 per second"))
      #expect(report.text.contains("messages    3 sent, 1 of them late, 1 without an echo, 1 not sent"))
      let lines = report.csv.split(separator: "\r\n")
      #expect(lines.count == 2 && lines.allSatisfy { $0.count { $0 == "," } == 20 })
      #expect(lines[1].contains(",1,7,0.001,1"))
      let file = try #require(ReportFile(json: Array(report.json.utf8)))
      #expect(file.seconds.map { ($0.gap_p99 ?? 0) > 0.099 && ($0.echo_p99 ?? 0) > 0.007 } == [true])
      #expect(
        report.json.contains("\"streams\":{\"opened\":2,\"open\":1,\"ended\":1,\"closed\":0,\"cut\":1,\"events\":7,"))
      #expect(report.prometheus.contains("lupine_bench_streams_ended_total{ending=\"cut\"} 1\n"))
      #expect(report.prometheus.contains("lupine_bench_event_gap_seconds_count 3\n"))
      let html = report.html(title: "streams")
      for title in ["Streams", "Gaps between events over time", "Echo latency since due over time"] {
        #expect(html.contains("<h2>\(title)</h2>"))
      }
    }

    @Test("two tests of streams are compared by their gaps and echoes, too")
    func comparison() throws {
      func file(_ gap: Double) throws -> ReportFile {
        let second = "{\"length\":1,\"completed\":0,\"rate\":0,\"p50\":0,\"p99\":0,\"gap_p99\":"
        let seconds = [0.9, 1, 1.1, 1].map { second + "\($0 * gap)}" }.joined(separator: ",")
        let json = "{\"valid\":true,\"rate\":1,\"error_share\":0,\"seconds\":[\(seconds)]}"
        return try #require(ReportFile(json: Array(json.utf8)))
      }
      let rows = Comparison(before: try file(0.01), after: try file(0.02)).rows
      #expect(rows.map(\.name) == ["rate", "p50", "p99", "gap p99"])
      #expect(rows[3].isWorse && !rows[1].isWorse)
    }

    @Test("OTLP's JSON has each metric with numbers of 64 bits as strings, and the buckets of a histogram add up")
    func otlp() throws {
      struct Request: Decodable {
        struct Resource: Decodable { let scopeMetrics: [Scope] }
        struct Scope: Decodable { let metrics: [Metric] }
        struct Metric: Decodable {
          let name: String
          let sum: Data?
          let histogram: Data?
        }
        struct Data: Decodable {
          let dataPoints: [Point]
          let aggregationTemporality: Int
        }
        struct Point: Decodable {
          let startTimeUnixNano: String
          let timeUnixNano: String
          let asInt: String?
          let count: String?
          let bucketCounts: [String]?
          let explicitBounds: [Double]?
        }
        let resourceMetrics: [Resource]
      }
      let request = try #require(
        try JSONDecoding.decode(Request.self, from: Array(report.otlp.utf8).span, JSONDecodingOptions()))
      let metrics = request.resourceMetrics[0].scopeMetrics[0].metrics
      func metric(_ name: String) -> Request.Metric? { metrics.first { $0.name == "lupine_bench.\(name)" } }
      #expect(metric("due")?.sum?.dataPoints.map(\.asInt) == ["1"])
      #expect(metric("streams.ended")?.sum?.dataPoints.map(\.asInt) == ["1", "0", "1"])
      let gap = try #require(metric("event.gap")?.histogram)
      #expect(gap.aggregationTemporality == 2)
      let point = try #require(gap.dataPoints.first)
      #expect(point.startTimeUnixNano == "0" && point.timeUnixNano == "1000000000" && point.count == "3")
      let (counts, bounds) = (try #require(point.bucketCounts), try #require(point.explicitBounds))
      #expect(counts.count == bounds.count + 1)
      #expect(counts.compactMap(Int.init).reduce(0, +) == 3)
      // Two gaps of 0, and one of 100 ms.
      #expect(counts[0] == "2")
    }
  }

  @Suite("Load tests of streams", .timeLimit(.minutes(10))) struct StreamRunTests {
    private func run(
      _ plan: LoadPlan, _ format: StreamFormat, holding hold: Duration? = nil,
      path: @escaping @Sendable (Int) -> String,
      _ handler: @escaping @Sendable (Peer) throws -> Void
    ) async throws -> LoadReport {
      let server = try OriginServer(handler: handler)
      defer { server.stop() }
      let (engine, url) = (try Engine(), server.url)
      let uris = try (0..<10).map { try URI(url + path($0)) }
      let scenario = Scenario("s", streaming: format, holding: hold, on: engine) { EngineRequest(uri: uris[$0 % 10]) }
      return try await LoadTest(plan, [scenario]).run()
    }

    private func plan(_ inFlight: Int, _ requests: Int?, _ duration: Duration = .seconds(600)) -> LoadPlan {
      var plan = LoadPlan(.closed(inFlight: inFlight, duration))
      plan.requestsMax = requests
      return plan
    }

    @Test("event streams are measured until the server ends them, and cut or wrong ones are counted")
    func events() async throws {
      let report = try await run(plan(2, 20), .events) { number in
        number % 5 == 0 ? "/cut" : number % 5 == 1 ? "/text" : number % 5 == 2 ? "/missing" : "/"
      } _: { peer in
        while let request = try peer.readHead() {
          switch request.target {
          case "/text": try peer.respond(fields: ["Content-Type": "text/plain"], body: Array("data: x\n\n".utf8))
          case "/missing": try peer.respond(status: 404)
          default:
            try peer.beginChunked(fields: ["Content-Type": "text/event-stream; charset=utf-8"])
            for _ in 0..<3 { try peer.chunk("data: x\n\n") }
            guard request.target == "/" else { return peer.close() }
            try peer.endChunked()
          }
        }
      }
      let streams = try #require(report.measurements.streams)
      #expect(report.completedCount == 20)
      #expect(streams.openedCount == 12 && streams.openCount == 0)
      #expect(streams.count(.ended) == 8 && report.cutCount == 4)
      #expect(streams.eventCount == 36 && streams.gaps.count == 24)
      #expect(report.errors["status 404"] == 4 && report.errors["not an event stream"] == 4)
      #expect(report.errors.values.reduce(0, +) == 12, "\(report.errors)")
      // Each arrival with an event has one latency.
      #expect(report.measurements.all.sinceDue.count == 12 && report.measurements.delays.count == 20)
      #expect(report.text.contains("\nUntil the first event:\nlatency             since sent\n"), "\(report.text)")
    }

    @Test("a stream without an answer has a latency if it failed, and the report shows none")
    func unanswered() async throws {
      let report = try await run(plan(1, 4), .lines) { number in
        number % 2 == 0 ? "/empty" : "/"
      } _: { peer in
        guard let request = try peer.readHead(), request.target == "/empty" else { return peer.close() }
        try peer.respond(fields: ["Connection": "close"])
      }
      #expect(report.measurements.all.sinceDue.count == 2 && report.errors == ["connectionLost": 2])
      #expect(report.openedConnectionCount == 4)
      #expect(report.text.contains("\nlatency     none, because no line arrived\n"), "\(report.text)")
    }

    @Test("lines are counted without empty ones, and with a last one that lacks its ending")
    func lines() async throws {
      let report = try await run(plan(1, 3), .lines) { _ in
        "/"
      } _: { peer in
        while try peer.readHead() != nil {
          try peer.beginChunked()
          try peer.chunk("{\"a\": 1}\r\n\n{\"a\"")
          try peer.chunk(": 2}\n{}")
          try peer.endChunked()
        }
      }
      let streams = try #require(report.measurements.streams)
      #expect(streams.eventCount == 9 && streams.count(.ended) == 3 && report.errors.isEmpty)
    }

    @Test("a stream that the server doesn't end is closed after its time, which is no error")
    func held() async throws {
      let report = try await run(plan(2, 6), .events, holding: .milliseconds(20)) { _ in
        "/"
      } _: { peer in
        guard try peer.readHead() != nil else { return }
        try peer.beginChunked(fields: ["Content-Type": "text/event-stream"])
        try peer.chunk("data: x\n\n")
        while try !peer.receive().isEmpty {}
      }
      let streams = try #require(report.measurements.streams)
      #expect(streams.count(.closed) == 6 && streams.eventCount == 6 && report.errors.isEmpty, "\(report.errors)")
      #expect(streams.openCount == 0)
    }

    @Test(
      "messages are sent at their times whether or not echoes arrive, and WebSockets are closed at the end of the load")
    func echoes() async throws {
      let report = try await run(
        plan(3, nil, .seconds(1)), .echoes(of: "häh", every: .milliseconds(10))
      ) { _ in
        "/"
      } _: { peer in
        guard let socket = try ServerSocket(peer) else { return }
        // The echoes of the first three messages follow the third, for which a closed loop would wait forever.
        for frame in try (0..<3).compactMap({ _ in try socket.next() }) {
          try socket.send(ServerFrame(frame.opcode, frame.payload))
        }
        try socket.echo()
      }
      let streams = try #require(report.measurements.streams)
      #expect(streams.openedCount == 3 && streams.count(.closed) == 3)
      // The generator closes them after the load, but they have lasted for all of it.
      #expect(report.completedCount == 3 && report.rate == 3 / report.duration.seconds)
      #expect(streams.echoesSinceDue.count >= 9 && streams.unansweredCount == 0)
      // An echo of the first message waits for two further ones.
      #expect(streams.echoesSinceDue.max >= .milliseconds(19))
      #expect(report.errors.isEmpty, "\(report.errors)")
    }

    @Test("a WebSocket that the server closes with an error code, or without a Close frame, is cut")
    func cutSockets() async throws {
      let report = try await run(plan(1, 4), .echoes(of: "x", every: .milliseconds(10))) { number in
        number % 2 == 0 ? "/code" : "/lost"
      } _: { peer in
        guard let socket = try ServerSocket(peer), try socket.next() != nil else { return }
        if socket.request.target == "/code" {
          try socket.send(.close(1011))
          while let frame = try socket.next(), frame.opcode != 8 {}
        }
        peer.close()
      }
      #expect(report.cutCount == 4)
      #expect(report.errors["close code 1011"] == 2 && report.errors.values.reduce(0, +) == 4, "\(report.errors)")
    }
  }
#endif
