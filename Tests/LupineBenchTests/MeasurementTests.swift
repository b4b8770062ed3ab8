// MeasurementTests: sums, seconds and reports of synthetic servers in synthetic time.

#if Bench
  import LupineEngine
  import LupineJSON
  import Testing

  @testable import LupineBench

  /// Measurements of synthetic servers in synthetic time.
  @Suite struct MeasurementTests {
    /// Returns the latencies of arrivals at a server that answers one request at a time, as `service` says.
    private func measure(
      _ schedule: ArrivalSchedule, done: (_ due: Double) -> Double
    ) -> Measurements {
      var (rest, measurements) = (schedule, Measurements(scenarioCount: 1))
      while let offset = rest.next() {
        let due = offset / .seconds(1)
        measurements.noteDue()
        let start = Instant(nanoseconds: 0)
        measurements.add(
          Sample(
            scenario: 0, due: start + .seconds(due), sent: start + .seconds(due), end: start + .seconds(done(due)),
            result: .success(Scenario.Outcome(status: 200, receivedBytes: 10))))
      }
      return measurements
    }

    @Test("a server that stops for 100 ms in each second shows this in the percentiles as theory predicts")
    func pause() {
      let schedule = ArrivalSchedule([RateStage(duration: .seconds(100), rate: 1_000)], spacing: .even)
      // Requests due in the first 100 ms of a second are answered at its end, all others at once.
      let measurements = measure(schedule) { due in max(due, due.rounded(.down) + 0.1) }
      let latencies = measurements.all.sinceDue
      // A tenth of all requests waits, uniformly between 0 and 100 ms.
      #expect(latencies.quantile(0.5) < .microseconds(1))
      #expect(abs(latencies.quantile(0.95).milliseconds - 50) < 1)
      #expect(abs(latencies.quantile(0.99).milliseconds - 90) < 1)
      #expect(abs(latencies.max.milliseconds - 100) < 0.2)
    }

    @Test("with random arrivals and a fixed service time, the mean latency is that of the queueing formula within 2 %")
    func queue() {
      // M/D/1: the mean wait is load / (2 · (1 - load)) service times.
      let (service, load) = (0.001, 0.5)
      let schedule = ArrivalSchedule(
        [RateStage(duration: .seconds(1_000), rate: load / service)], spacing: .poisson(seed: 3))
      var free = 0.0
      let measurements = measure(schedule) { due in
        free = max(free, due) + service
        return free
      }
      let expected = service * (1 + load / (2 * (1 - load)))
      #expect(abs(measurements.all.sinceDue.mean.seconds / expected - 1) < 0.02)
    }

    @Test("late requests, requests not sent, errors and bytes are counted")
    func counts() {
      var measurements = Measurements(scenarioCount: 2)
      let start = Instant(nanoseconds: 1_000_000_000)
      for _ in 0..<4 { measurements.noteDue() }
      measurements.noteUnsent()
      for (scenario, delay, result) in [
        (0, 5, Result<Scenario.Outcome, Sample.Failure>.success(Scenario.Outcome(status: 200, receivedBytes: 7))),
        (0, 6, .success(Scenario.Outcome(status: 503, receivedBytes: 5))),
        (1, 6, .failure(Sample.Failure(CancellationError()))),
      ] {
        measurements.add(
          Sample(
            scenario: scenario, due: start, sent: start + .milliseconds(delay), end: start + .milliseconds(8),
            result: result))
      }
      let report = report(measurements, unfinished: 1)
      #expect(report.dueCount == 4)
      #expect(report.unsentCount == 1)
      #expect(report.lateCount == 2)
      #expect(report.completedCount == 3)
      #expect(report.errors == ["status 503": 1, "cancelled": 1, "unfinished": 1])
      #expect(report.errorShare == 1)
      #expect(measurements.all.receivedBytes == 12)
      #expect(measurements.scenarios.map(\.completed) == [2, 1])
      #expect(abs(report.quantile(0.5).milliseconds - 8) < 0.01)
      #expect(abs(report.quantileSinceSent(0.5).milliseconds - 2) < 0.01)
      #expect(report.invalidity?.contains("66.7 %") == true)
    }

    @Test("requests are sent when the loop takes them, but code, and requests of closed loops, when they are begun")
    func sent() {
      let due = Instant(nanoseconds: 1_000_000_000)
      func sent(_ taken: Instant?, isOpenLoop: Bool) -> Instant {
        Sample(
          scenario: 0, due: due, passed: due + .milliseconds(1), (taken, due + .milliseconds(9)),
          isOpenLoop: isOpenLoop, result: .success(Scenario.Outcome())
        ).sent
      }
      #expect(sent(due + .milliseconds(7), isOpenLoop: true) == due + .milliseconds(7))
      #expect(sent(due + .milliseconds(7), isOpenLoop: false) == due + .milliseconds(1))
      #expect(sent(nil, isOpenLoop: true) == due + .milliseconds(1))
    }

    @Test("each second has its own rate and latencies")
    func seconds() {
      let row = endedSeconds.seconds[1]
      #expect(row.counts.completed == 20)
      #expect(row.rate == 20)
      #expect(abs(row.p99.milliseconds - 2) < 0.01)
      #expect(abs(endedSeconds.seconds[0].p99.milliseconds - 1) < 0.01)
    }

    private var endedSeconds: Measurements {
      var measurements = Measurements(scenarioCount: 1)
      let start = Instant(nanoseconds: 0)
      for second in 1...3 {
        for _ in 0..<(10 * second) {
          measurements.noteDue()
          measurements.add(
            Sample(
              scenario: 0, due: start, sent: start, end: start + .milliseconds(second),
              result: .success(Scenario.Outcome(status: 200, receivedBytes: 1))))
        }
        _ = measurements.endSecond(
          at: .seconds(second), length: .seconds(1), target: 10, inFlight: 0, usage: nil, watched: nil)
      }
      return measurements
    }

    private func report(
      _ measurements: Measurements, unfinished: Int = 0, duration: Duration = .seconds(3),
      use: ProcessUsage.Share? = nil, plan: LoadPlan = LoadPlan(rate: 10, for: .seconds(3))
    ) -> LoadReport {
      LoadReport(
        plan, scenarioNames: ["a & b", "c"], measurements, unfinishedCount: unfinished,
        duration: duration, use: use)
    }

    @Test(
      "a condition compares its figure with its limit",
      arguments: [
        ("p99>2.9ms", "p99>2.9ms: it was 3.00 ms"), ("p99>3.1ms", nil), ("p10<1.1ms", "p10<1.1ms: it was 1.00 ms"),
        ("p10<900us", nil), ("mean>2.3ms", "mean>2.3ms: it was 2.33 ms"), ("mean>2.4ms", nil),
        ("max<1s", "max<1s: it was 3.00 ms"),
        ("rate<20.1", "rate<20.1: it was 20.0"), ("rate<20", nil), ("rate>19", "rate>19: it was 20.0"),
        ("errors>1", "errors>1: it was 2"), ("errors>2", nil), ("errors>3.2%", "errors>3.2%: it was 3.333 %"),
        ("errors>3.4%", nil), ("unsent>0", nil),
      ] as [(String, String?)])
    func objectives(text: String, violation: String?) throws {
      #expect(try #require(Objective(text)).violation(in: report(endedSeconds, unfinished: 2)) == violation)
    }

    @Test("a test is invalid if the generator sent more than 1 % of the sent requests late", arguments: [1, 2])
    func invalidity(lateCount: Int) {
      var measurements = Measurements(scenarioCount: 1)
      let start = Instant(nanoseconds: 0)
      for number in 1...100 {
        measurements.noteDue()
        let sent = start + .milliseconds(number > lateCount ? 5 : 6)
        measurements.add(
          Sample(scenario: 0, due: start, sent: sent, end: sent, result: .success(Scenario.Outcome())))
      }
      for _ in 0..<900 {
        measurements.noteDue()
        measurements.noteUnsent()
      }
      #expect(report(measurements).lateShare == Double(lateCount) / 100)
      #expect((report(measurements).invalidity != nil) == (lateCount > 1))
    }

    @Test("a generator that sent late, but used less than half a core, waited for other programs")
    func otherPrograms() throws {
      var measurements = Measurements(scenarioCount: 1)
      measurements.noteDue()
      measurements.noteSent(due: Instant(nanoseconds: 0), sent: Instant(nanoseconds: 6_000_000))
      func reason(_ cores: Double, _ duration: Duration = .seconds(3)) throws -> String {
        let use = ProcessUsage.Share(cores: cores, residentBytes: 0)
        return try #require(report(measurements, duration: duration, use: use).invalidity)
      }
      #expect(try reason(0.02).contains("used at most 2 % of a core, so other programs used the processors"))
      #expect(try reason(0.5).contains("Reduce the rate"))
      // In a short load, most of the time is the wait for the last responses.
      #expect(try reason(0.02, .milliseconds(999)).contains("Reduce the rate"))
      // A busy second counts, and a short rest of one doesn't, in which one tick of the system's clock is many percent.
      for (length, cores) in [(Duration.seconds(1), 0.4), (.milliseconds(10), 1)] {
        _ = measurements.endSecond(
          at: .seconds(1), length: length, target: 10, inFlight: 0,
          usage: ProcessUsage.Share(cores: cores, residentBytes: 0), watched: nil)
      }
      #expect(try reason(1).contains("used at most 40 % of a core"))
    }

    @Test("the use of a watched process is the mean of its seconds, and its memory that of the last one")
    func watched() {
      var measurements = endedSeconds
      #expect(!report(measurements).text.contains("watched"))
      for (length, watched) in [(1, (0.2, 1_000_000)), (3, (0.6, 2_000_000)), (1, nil)] as [(Int, (Double, UInt64)?)] {
        _ = measurements.endSecond(
          at: .seconds(1), length: .seconds(length), target: 10, inFlight: 0, usage: nil,
          watched: watched.map { ProcessUsage.Share(cores: $0, residentBytes: $1) })
      }
      #expect(report(measurements).text.contains("\nwatched     50 % of a core, 2.0 MB of memory, until it ended\n"))
    }

    @Test("the report's JSON is valid, and a comparison reads it")
    func json() throws {
      let report = report(endedSeconds)
      let file = try #require(ReportFile(json: Array(report.json.utf8)))
      #expect(file.valid)
      #expect(file.seconds.map(\.completed) == [10, 20, 30])
      #expect(ReportFile(json: Array("{}".utf8)) == nil)
      let names = Comparison(before: file, after: file).rows.map(\.name)
      #expect(names == ["rate", "p50", "p99"])
    }

    @Test("the CSV has a header and a line for each second with as many fields")
    func csv() {
      let lines = report(endedSeconds).csv.split(separator: "\r\n")
      #expect(lines.count == 4)
      #expect(lines.allSatisfy { $0.count { $0 == "," } == 14 })
    }

    @Test("the HTML page has no script and refers to no other file")
    func html() {
      let html = report(endedSeconds).html(title: "a <b>")
      #expect(html.contains("a &lt;b&gt;"))
      #expect(
        !html.contains("<script") && !html.contains("http://") && !html.contains("https://") && !html.contains("src="))
      #expect(html.contains("<polyline"))
      let first = html[..<(html.firstRange(of: "</svg>")?.lowerBound ?? html.endIndex)]
      #expect(first.matches(of: />(\d+) s</).map(\.output.1) == ["1", "2", "3"])
    }

    @Test("the latencies of a closed loop are drawn once, because its requests are due when they are sent")
    func htmlOfClosedLoop() {
      #expect(report(endedSeconds).html(title: "t").contains("since due"))
      let closed = report(endedSeconds, plan: LoadPlan(.closed(inFlight: 1, .seconds(3)))).html(title: "t")
      #expect(!closed.contains("since due") && closed.contains("&#9632; since sent"))
    }

    @Test("JUnit's XML has a test case for each objective, with the value that missed it")
    func junit() throws {
      let objectives = [try #require(Objective("p99>1ms")), try #require(Objective("errors>0.1%"))]
      let xml = report(endedSeconds).junit(objectives)
      #expect(xml.contains("tests=\"3\" failures=\"1\""))
      #expect(xml.contains("<failure message=\"p99&gt;1ms: it was 3.00 ms\"/>"))
    }

    @Test("Prometheus's text has the counters and the quantiles in seconds")
    func prometheus() {
      let text = report(endedSeconds).prometheus
      #expect(text.contains("lupine_bench_completed_total 60\n"))
      #expect(text.contains("lupine_bench_latency_seconds_count 60\n"))
      #expect(text.contains("lupine_bench_latency_seconds{quantile=\"0.99\"} 0.00"))
    }
  }
#endif
