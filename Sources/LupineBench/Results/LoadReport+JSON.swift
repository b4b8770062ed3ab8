// LoadReport+JSON: the report as JSON, which `lupine bench compare` reads, and as CSV by second.

#if Bench
  internal import Histogram

  extension LoadReport {
    /// The report as one JSON object. Durations are in seconds, shares from 0 to 1. The histograms are in HdrHistogram's V2
    /// encoding, in nanoseconds.
    public var json: String {
      let all = measurements.all
      let (latency, sent) = (all.sinceDue, all.sinceSent)
      return JSONText([
        "format": JSONText("lupine-bench 1"),
        "valid": JSONText(invalidity == nil),
        "invalid_because": invalidity.map { JSONText($0) },
        "duration": JSONText(duration.seconds),
        "due": JSONText(dueCount),
        "unsent": JSONText(unsentCount),
        "late": JSONText(lateCount),
        "completed": JSONText(completedCount),
        "rate": JSONText(rate),
        "received_bytes": JSONText(all.receivedBytes),
        "opened_connections": JSONText(measurements.openedConnections),
        "error_share": JSONText(errorShare),
        "errors": JSONText(members: errors.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) }),
        "statuses": JSONText(
          members: all.statuses.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONText($0.value)) }),
        "generator_cores": use.map { JSONText($0.cores) },
        "latency_since_due": Self.quantiles(latency),
        "latency_since_sent": Self.quantiles(sent),
        "delay": Self.quantiles(measurements.delays),
        "phases": JSONText(
          members: RequestPhase.allCases.map { ($0.rawValue, measurements.phases[$0].map { Self.quantiles($0) }) }),
        "scenarios": JSONText(
          zip(scenarioNames, measurements.scenarios).map { name, totals in
            JSONText([
              "name": JSONText(name), "completed": JSONText(totals.completed), "errors": JSONText(totals.errorCount),
              "latency_since_due": Self.quantiles(totals.sinceDue),
            ])
          }),
        "seconds": JSONText(measurements.seconds.map(Self.second)),
        "histogram_since_due": JSONText(HistogramCode.encode(latency)),
        "histogram_since_sent": JSONText(HistogramCode.encode(sent)),
      ]).text + "\n"
    }

    private static func quantiles(_ histogram: LatencyHistogram) -> JSONText {
      var members: [(String, JSONText?)] = [("mean", JSONText(histogram.mean.seconds))]
      members += quantiles.map { ("p\(percent($0))", JSONText(histogram.quantile($0).seconds)) }
      members.append(("max", JSONText(histogram.max.seconds)))
      return JSONText(members: members)
    }

    private static func second(_ row: SecondRow) -> JSONText {
      JSONText([
        "time": JSONText(row.time.seconds), "length": JSONText(row.length.seconds), "target": JSONText(row.target),
        "rate": JSONText(row.rate), "due": JSONText(row.counts.due), "unsent": JSONText(row.counts.unsent),
        "completed": JSONText(row.counts.completed), "errors": JSONText(row.counts.errors),
        "in_flight": JSONText(row.inFlight), "received_bytes": JSONText(row.counts.receivedBytes),
        "p50": JSONText(row.p50.seconds), "p99": JSONText(row.p99.seconds), "max": JSONText(row.max.seconds),
        "generator_cores": row.usage.map { JSONText($0.cores) },
        "watched_cores": row.watched.map { JSONText($0.cores) },
        "watched_resident_bytes": row.watched.map { JSONText($0.residentBytes) },
      ])
    }

    /// The seconds of the test as CSV (RFC 4180) with a header. Durations are in milliseconds.
    public var csv: String {
      var text =
        "time_s,target_per_s,completed_per_s,due,unsent,completed,errors,in_flight,received_bytes,p50_ms,p99_ms,max_ms,"
        + "generator_cores,watched_cores,watched_resident_bytes\r\n"
      for row in measurements.seconds {
        let latencies = [row.p50, row.p99, row.max].map { $0.milliseconds.text(3) }
        let usage = [
          row.usage?.cores.text(3) ?? "", row.watched?.cores.text(3) ?? "",
          row.watched.map { "\($0.residentBytes)" } ?? "",
        ]
        let counts = [row.counts.due, row.counts.unsent, row.counts.completed, row.counts.errors, row.inFlight]
        text +=
          ([row.time.seconds.text(3), row.target.text(1), row.rate.text(1)] + counts.map(String.init)
          + ["\(row.counts.receivedBytes)"] + latencies + usage).joined(separator: ",") + "\r\n"
      }
      return text
    }

    /// The latencies since due as HdrHistogram's percentile distribution (`.hgrm`), in milliseconds.
    public var percentileDistribution: String {
      var text = ""
      measurements.all.sinceDue.counts.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1e6)
      return text
    }

    /// The report in Prometheus's text format, for a file collector or a push gateway.
    public var prometheus: String {
      var text = ""
      func add(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: String)]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for sample in samples { text += "\(name)\(sample.labels) \(sample.value)\n" }
      }
      let all = measurements.all
      add("lupine_bench_due_total", "counter", "Requests that were due.", [("", "\(dueCount)")])
      add("lupine_bench_unsent_total", "counter", "Requests that were due but not sent.", [("", "\(unsentCount)")])
      add("lupine_bench_late_total", "counter", "Requests sent more than 5 ms late.", [("", "\(lateCount)")])
      add("lupine_bench_completed_total", "counter", "Requests that have ended.", [("", "\(completedCount)")])
      add(
        "lupine_bench_errors_total", "counter", "Errors by kind.",
        errors.sorted { $0.key < $1.key }.map { ("{kind=\"\($0.key)\"}", "\($0.value)") })
      add(
        "lupine_bench_latency_seconds", "summary", "Latency from when a request was due until it was done.",
        Self.quantiles.map { ("{quantile=\"\($0)\"}", all.sinceDue.quantile($0).seconds.text(9)) })
      text += "lupine_bench_latency_seconds_sum \((all.sinceDue.sum / 1e9).text(9))\n"
      text += "lupine_bench_latency_seconds_count \(all.sinceDue.count)\n"
      return text
    }

    /// The objectives as test cases in JUnit's XML, for build servers.
    public func junit(_ objectives: [Objective]) -> String {
      let failures = objectives.map { $0.violation(in: self) }
      var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      let failureCount = failures.count { $0 != nil } + (invalidity == nil ? 0 : 1)
      text += "<testsuite name=\"lupine bench\" tests=\"\(objectives.count + 1)\" failures=\"\(failureCount)\" "
      text += "time=\"\(duration.seconds.text(3))\">\n"
      for (name, failure) in [("the generator isn't the bottleneck", invalidity)]
        + zip(objectives.map(\.text), failures)
      {
        text += "  <testcase classname=\"lupine.bench\" name=\"\(name.xmlEscaped)\""
        text += failure.map { ">\n    <failure message=\"\($0.xmlEscaped)\"/>\n  </testcase>\n" } ?? "/>\n"
      }
      return text + "</testsuite>\n"
    }
  }
#endif
