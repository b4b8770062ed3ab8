// LatenessTests: requests and streams that the generator sent late, and that never ended.

#if Bench
  import LupineEngine
  import LupineOrigin
  import Testing

  @testable import LupineBench

  @Suite("Lateness in load tests", .timeLimit(.minutes(10))) struct LatenessTests {
    private static let count = 20

    /// Keeps the thread that sends busy for 100 ms, in which all further arrivals become due.
    @Sendable private static func pause(at number: Int) {
      guard number == 0 else { return }
      let end = Instant.now + .milliseconds(100)
      while Instant.now < end {}
    }

    /// Runs a load test of 20 arrivals, one per millisecond, whose server sends `bytes` to each client and then stalls.
    private func run(
      sending bytes: [UInt8], _ scenario: (Engine, URI) -> Scenario
    ) async throws -> LoadReport {
      let server = try OriginServer { peer in
        guard try peer.readHead() != nil else { return }
        try peer.send(bytes)
        while try !peer.receive().isEmpty {}
      }
      defer { server.stop() }
      var plan = LoadPlan(rate: 1_000, for: .seconds(60))
      (plan.requestsMax, plan.drainLimit) = (Self.count, .milliseconds(10))
      return try await LoadTest(plan, [scenario(try Engine(), try URI(server.url))]).run()
    }

    private func check(_ report: LoadReport) {
      // The first arrival may be late, too, if the machine is busy.
      #expect(report.lateCount >= Self.count - 1 && report.lateCount <= Self.count)
      #expect(report.lateShare == Double(report.lateCount) / Double(Self.count))
      #expect(report.measurements.delays.max >= .milliseconds(75))
      #expect(report.invalidity?.contains("more than 5 ms late") == true)
    }

    @Test("requests that a stalled server never answers are late if the generator passed them late to the engine")
    func requests() async throws {
      let report = try await run(sending: []) { engine, uri in
        Scenario("s", on: engine) { number in
          Self.pause(at: number)
          return EngineRequest(uri: uri)
        }
      }
      #expect(report.errors == ["unfinished": Self.count])
      check(report)
    }

    @Test("streams that never end are late if the generator opened them late")
    func streams() async throws {
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nx\n\r\n"
      let report = try await run(sending: Array(head.utf8)) { engine, uri in
        Scenario("s", streaming: .lines, on: engine) { number in
          Self.pause(at: number)
          return EngineRequest(uri: uri)
        }
      }
      #expect(report.completedCount == 0 && report.measurements.delays.count == UInt64(Self.count))
      check(report)
    }
  }
#endif
