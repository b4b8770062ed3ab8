// ResultTests: conditions, search, encodings, comparison, and short runs of load tests.

#if Bench
  import LupineEngine
  import LupineOrigin
  import LupineTestSupport
  import Testing

  @testable import LupineBench

  @Suite struct ObjectiveTests {
    @Test(
      "an objective is a figure, a sign, a number and a fitting unit",
      arguments: [
        ("p99>50ms", true), ("p99.9 > 1.5 s", true), ("mean>300us", true), ("max<1s", true), ("errors>0.1%", true),
        ("errors>10", true), ("rate<900", true), ("unsent>0", true), ("late>1%", true), ("p99>50", false),
        ("rate<900ms", false), ("errors>1ms", false), ("p101>1ms", false), ("p99=1ms", false), ("q>1ms", false),
        ("", false),
      ])
    func syntax(text: String, isValid: Bool) { #expect((Objective(text) != nil) == isValid) }
  }

  @Suite struct KneeSearchTests {
    @Test(
      "the search finds the highest rate that a server sustains, within 5 %", arguments: [3.0, 100, 101, 730, 99_999])
    func findsKnee(limit: Double) throws {
      var search = KneeSearch(from: 100, upTo: 100_000)
      while let rate = search.next { search.note(meetsObjectives: rate <= limit) }
      let knee = try #require(search.passed)
      #expect(knee <= limit && knee * (1 + KneeSearch.precision) >= limit)
    }

    @Test("the search ends at its limit if the server meets the objectives there, and ends if it never meets them")
    func ends() {
      var search = KneeSearch(from: 10, upTo: 1_000)
      while search.next != nil { search.note(meetsObjectives: true) }
      #expect(search.passed == 1_000)
      search = KneeSearch(from: 10, upTo: 1_000)
      var trialCount = 0
      while search.next != nil {
        search.note(meetsObjectives: false)
        trialCount += 1
      }
      // 10 per second and ten times the half.
      #expect(search.passed == nil && trialCount == 11)
    }
  }

  @Suite struct HistogramCodeTests {
    @Test("a histogram in HdrHistogram's encoding decodes to the same counts")
    func roundTrip() throws {
      var histogram = LatencyHistogram()
      for value in [0, 1, 999, 1_000, 1_024, 5_000, 123_456, 99_000_000, 3_600_000_000_000, 9_000_000_000_000]
        as [UInt64]
      {
        histogram.record(nanoseconds: value, count: value % 7 + 1)
      }
      let decoded = try #require(HistogramCode.decode(HistogramCode.encode(histogram)))
      #expect(decoded.counts == histogram.counts)
    }

    @Test(
      "damaged text isn't decoded", arguments: ["", "HISTF", "AAAA", "HISTFAAAABR42pNpmSzMwMDAxQABzFCaEUoz2X+AMB4A"])
    func damaged(text: String) { #expect(HistogramCode.decode(text) == nil) }

    @Test("merged logs contain all intervals in the order of their times")
    func merge() throws {
      func log(_ base: Double, _ starts: [Double]) -> String {
        HistogramLog.header(startTime: base)
          + starts.map { start in
            var histogram = LatencyHistogram()
            histogram.record(nanoseconds: UInt64(1_000_000 * (start + 1)))
            return HistogramLog.Interval(start: base + start, length: 1, histogram: histogram).line(from: base)
          }.joined()
      }
      let merged = try HistogramLogs.merge([log(1_000, [0, 2]), log(1_001, [0, 2])])
      let (intervals, fault) = HistogramLog.read(merged)
      #expect(fault == nil)
      #expect(intervals.map(\.start) == [1_000, 1_001, 1_002, 1_003])
      #expect(intervals.map(\.histogram.count) == [1, 1, 1, 1])
      #expect(throws: HistogramLogError(log: 1, line: 1)) { try HistogramLogs.merge([log(0, [0]), "x"]) }
    }
  }

  @Suite struct ComparisonTests {
    private func file(_ latencies: [Double]) throws -> ReportFile {
      let seconds = (latencies + [0]).map {
        "{\"length\":1,\"completed\":10,\"rate\":\(1 / max($0, 1)),\"p50\":\($0),\"p99\":\($0)}"
      }
      let json = "{\"valid\":true,\"rate\":1,\"error_share\":0,\"seconds\":[\(seconds.joined(separator: ","))]}"
      return try #require(ReportFile(json: Array(json.utf8)))
    }

    @Test("seconds in which the server stood still count for the rate, and those after the load don't")
    func pause() throws {
      func file(_ counts: [Int]) throws -> ReportFile {
        let seconds = (counts + [0]).enumerated().map { index, count in
          "{\"time\":\(index + 1),\"length\":1,\"completed\":\(count),\"rate\":\(count),\"p50\":\(count),\"p99\":\(count)}"
        }
        let json =
          "{\"valid\":true,\"duration\":6,\"rate\":1,\"error_share\":0,\"seconds\":[\(seconds.joined(separator: ","))]}"
        return try #require(ReportFile(json: Array(json.utf8)))
      }
      let rows = Comparison(
        before: try file([10, 10, 10, 10, 10, 10]), after: try file([10, 10, 0, 0, 20, 20, 500])
      ).rows
      #expect(rows[0].before == 10 && rows[0].after == 10 && !rows[0].isBetter && !rows[0].isWorse)
      #expect(rows[1].after == 112)
    }

    @Test("a comparison says that a test was invalid, and that the shares of errors differ")
    func warnings() throws {
      func file(_ isValid: Bool, _ errorShare: Double) throws -> ReportFile {
        let json = "{\"valid\":\(isValid),\"rate\":1,\"error_share\":\(errorShare),\"seconds\":[]}"
        return try #require(ReportFile(json: Array(json.utf8)))
      }
      #expect(!Comparison(before: try file(true, 0.5), after: try file(true, 0.5)).text.contains("Note"))
      #expect(
        Comparison(before: try file(true, 0), after: try file(false, 1)).text.hasSuffix(
          """
          Note: the second report is of an invalid test, whose latencies don't describe the server.
          Note: 0.00 % of the requests failed before, and 100.00 % after.

          """))
    }

    @Test("the interval is Welch's: a known example of two samples")
    func welch() throws {
      // R: t.test(c(3, 4, 5, 6), c(7, 9, 8, 10)) gives the interval 1.75 to 6.25 for the difference of the means.
      let spread = try #require(Moments.welch(Moments([3, 4, 5, 6]), Moments([7, 9, 8, 10])))
      #expect(abs(spread - 2.2339) < 0.03)
      #expect(abs(Moments.studentQuantile(10) - 2.2281) < 0.005)
      #expect(abs(Moments.studentQuantile(1_000) - 1.9623) < 0.001)
    }

    @Test("a clear difference is worse or better, and noise is neither")
    func verdicts() throws {
      let (slow, fast) = (try file([9, 10, 11, 10, 9, 11]), try file([5, 6, 5, 6, 5, 6]))
      #expect(Comparison(before: fast, after: slow).rows.allSatisfy { $0.isWorse })
      #expect(Comparison(before: slow, after: fast).rows.allSatisfy { $0.isBetter })
      let same = Comparison(before: slow, after: try file([10, 9, 11, 11, 9, 10]))
      #expect(!same.rows.contains { $0.isWorse || $0.isBetter })
      #expect(Comparison(before: try file([1]), after: slow).rows.allSatisfy { $0.interval == nil })
    }
  }

  @Suite struct NumberTextTests {
    @Test(
      "numbers are rounded to their decimals",
      arguments: [(0.0, 2, "0.00"), (1.005, 1, "1.0"), (-0.04, 1, "0.0"), (-1.25, 0, "-1"), (12.5, 3, "12.500")])
    func decimals(value: Double, count: Int, text: String) { #expect(value.text(count) == text) }

    @Test(
      "durations have three digits and a unit",
      arguments: [(250, "250 µs"), (1_250, "1.25 ms"), (99_960, "100 ms"), (2_500_000, "2.50 s"), (999_700, "1.00 s")])
    func durations(microseconds: Int, text: String) { #expect(Duration.microseconds(microseconds).text == text) }
  }

  @Suite struct LoadTestTests {
    @Test("an open loop runs each scenario for its arrivals, and measures those after the warm-up")
    func openLoop() async throws {
      var plan = LoadPlan(rate: 1_000, for: .milliseconds(300))
      // On a busy machine, the tasks of scenarios wait for their threads.
      (plan.warmUp, plan.drainLimit) = (.milliseconds(100), .seconds(600))
      let report = try await LoadTest(
        plan,
        [
          Scenario("a", weight: 3) { _ in Scenario.Outcome(status: 200, receivedBytes: 5) },
          Scenario("b") { _ in throw CancellationError() },
        ]
      ).run()
      #expect(report.dueCount == 200)
      #expect(report.completedCount == 200)
      #expect(report.errors == ["cancelled": 50])
      #expect(report.measurements.scenarios.map(\.completed) == [150, 50])
    }

    @Test("a closed loop keeps its number of requests in flight until the number of requests is reached")
    func closedLoop() async throws {
      var plan = LoadPlan(.closed(inFlight: 4, .seconds(600)))
      plan.requestsMax = 100
      let report = try await LoadTest(plan, [Scenario("a") { _ in Scenario.Outcome() }]).run()
      #expect(report.dueCount == 100)
      #expect(report.completedCount == 100)
    }

    @Test("requests that end after the load's time don't count in the rate, and the load lasts as long as planned")
    func rate() async throws {
      let report = try await run(LoadPlan(rate: 10, for: .seconds(1))) { _ in true }
      #expect(report.completedCount == 10 && report.rate == 0)
      #expect(report.duration == .seconds(1))
    }

    @Test("if the number of requests ends the load, the rate is that of all requests until the last one has ended")
    func rateOfNumber() async throws {
      var plan = LoadPlan(.closed(inFlight: 2, .seconds(600)))
      plan.requestsMax = 2
      let report = try await run(plan) { $0 == 1 }
      #expect(report.completedCount == 2 && report.rate > 0 && report.rate <= 2)
    }

    /// Runs a load test of requests that end at once, or after the first second if `waits` is true for their numbers.
    private func run(_ plan: LoadPlan, waits: @escaping @Sendable (Int) -> Bool) async throws -> LoadReport {
      let gate = Gate()
      var test = LoadTest(
        plan,
        [
          Scenario("waits") { number in
            if waits(number) { await gate.wait() }
            return Scenario.Outcome()
          }
        ])
      test.onSecond = { _ in gate.open() }
      return try await test.run()
    }

    /// Runs a load test whose requests don't end, and cancels it when it has sent the first one.
    private func runCancelled(_ plan: LoadPlan) async throws -> LoadReport {
      let (gate, started) = (Gate(), Recorder<Int>())
      defer { gate.open() }
      let scenario = Scenario("waits") { number in
        started.record(number)
        await gate.wait()
        return Scenario.Outcome()
      }
      let test = LoadTest(plan, [scenario])
      let run = Task { try await test.run() }
      #expect(await started.next() == 0)
      run.cancel()
      return try await run.value
    }

    @Test(
      "a cancelled test reports what it has sent, without waiting for the next request or for all responses",
      .timeLimit(.minutes(10)),
      arguments: [LoadPlan(.closed(inFlight: 1, .seconds(3_600))), LoadPlan(rate: 0.001, for: .seconds(3_600))])
    func cancelled(plan: LoadPlan) async throws {
      var plan = plan
      plan.drainLimit = .seconds(3_600)
      let report = try await runCancelled(plan)
      #expect(report.errors == ["unfinished": 1] && report.duration < .seconds(3_600))
    }

    @Test("a test that is cancelled during the warm-up has neither a duration nor seconds", .timeLimit(.minutes(10)))
    func cancelledWarmUp() async throws {
      var plan = LoadPlan(.closed(inFlight: 1, .seconds(3_600)))
      plan.warmUp = .seconds(1_800)
      let report = try await runCancelled(plan)
      #expect(report.duration == .zero && report.rate == 0)
      #expect(report.measurements.seconds.isEmpty && report.errors.isEmpty)
    }

    @Test("connections whose requests fail are counted as opened, and attempts to open one aren't")
    func openedConnections() async throws {
      let server = try OriginServer { peer in
        _ = try peer.readHead()
        peer.close()
      }
      defer { server.stop() }
      let (engine, uri) = (try Engine(), try URI(server.url))
      var plan = LoadPlan(.closed(inFlight: 1, .seconds(600)))
      plan.requestsMax = 3
      let test = LoadTest(plan, [Scenario("GET", on: engine) { _ in EngineRequest(uri: uri) }])
      var report = try await test.run()
      #expect(report.errors == ["connectionLost": 3] && report.openedConnectionCount == 3, "\(report.errors)")
      server.stop()
      report = try await test.run()
      #expect(report.errors == ["connectionRefused": 3] && report.openedConnectionCount == 0, "\(report.errors)")
    }

    @Test("requests that wait for a busy loop of the engine are late, and make the test invalid")
    func busyLoop() async throws {
      let server = try OriginServer { peer in
        while try peer.readHead() != nil { try peer.respond() }
      }
      defer { server.stop() }
      let (engine, uri) = (try Engine(), try URI(server.url))
      let scenario = Scenario("GET", on: engine) { number in
        if number == 0 {
          // Occupies the loop until all requests are due, and late.
          let end = Instant.now + .milliseconds(30)
          Task(executorPreference: engine.executor(for: uri.origin)) { while Instant.now < end {} }
        }
        return EngineRequest(uri: uri)
      }
      let report = try await LoadTest(LoadPlan(rate: 1_000, for: .milliseconds(10)), [scenario]).run()
      #expect(report.completedCount == 10 && report.lateCount >= 9)
      #expect(report.invalidity != nil)
      #expect(report.quantileSinceSent(0.5) + .milliseconds(5) < report.quantile(0.5))
    }

    @Test("requests that are due while too many are in flight are counted as not sent, and the last ones as unfinished")
    func limits() async throws {
      let report = try await stalled(warmUp: .zero)
      #expect(report.dueCount == 100)
      #expect(report.unsentCount == 90)
      #expect(report.errors == ["unfinished": 10])
    }

    @Test("requests of the warm-up that never end aren't errors of the measurement")
    func unfinishedWarmUp() async throws {
      let report = try await stalled(warmUp: .milliseconds(50))
      #expect(report.dueCount == 50 && report.unsentCount == 50 && report.errors.isEmpty)
    }

    /// Runs a load test of 100 requests, of which 10 are sent, and end only after the test.
    private func stalled(warmUp: Duration) async throws -> LoadReport {
      let gate = Gate()
      defer { gate.open() }
      var plan = LoadPlan(rate: 1_000, for: .milliseconds(100))
      (plan.inFlightMax, plan.drainLimit, plan.warmUp) = (10, .zero, warmUp)
      return try await LoadTest(
        plan,
        [
          Scenario("waits") { _ in
            await gate.wait()
            return Scenario.Outcome()
          }
        ]
      ).run()
    }
  }
#endif
