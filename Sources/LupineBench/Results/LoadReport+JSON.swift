// LoadReport+JSON: the report as JSON, which `lupine bench compare` reads, and as CSV by second.

#if Bench
  internal import Histogram
  internal import LupineWire

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
        "opened_connections": JSONText(openedConnectionCount),
        "connections_opened_in_advance": JSONText(connectionsOpenedInAdvance),
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
        "streams": streamsJSON,
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

    private var streamsJSON: JSONText? {
      guard let streams = measurements.streams else { return nil }
      let counts: KeyValuePairs<String, JSONText?> = [
        "opened": JSONText(streams.openedCount), "open": JSONText(streams.openCount),
        "ended": JSONText(streams.count(.ended)), "closed": JSONText(streams.count(.closed)),
        "cut": JSONText(streams.count(.cut)), "events": JSONText(streams.eventCount),
        "event_rate": JSONText(eventRate), "messages": JSONText(streams.messageCount),
        "late_messages": JSONText(streams.lateMessageCount), "unanswered_messages": JSONText(streams.unansweredCount),
        "unsent_messages": JSONText(streams.unsentMessageCount),
      ]
      let histograms = streamHistograms.filter { $0.histogram.count > 0 }.map {
        ($0.name.replacing(" ", with: "_"), Self.quantiles($0.histogram) as JSONText?)
      }
      return JSONText(members: counts.map { ($0.key, $0.value) } + histograms)
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
        "open_streams": row.streams.map { JSONText($0.openCount) },
        "events": row.streams.map { JSONText($0.eventCount) },
        "gap_p50": row.streams?.gapP50.map { JSONText($0.seconds) },
        "gap_p99": row.streams?.gapP99.map { JSONText($0.seconds) },
        "echo_p50": row.streams?.echoP50.map { JSONText($0.seconds) },
        "echo_p99": row.streams?.echoP99.map { JSONText($0.seconds) },
      ])
    }

    /// The seconds of the test as CSV (RFC 4180) with a header. Durations are in milliseconds. A test of streams has six more columns.
    public var csv: String {
      var text =
        "time_s,target_per_s,completed_per_s,due,unsent,completed,errors,in_flight,received_bytes,p50_ms,p99_ms,max_ms,"
        + "generator_cores,watched_cores,watched_resident_bytes"
        + (measurements.streams == nil ? "" : ",open_streams,events,gap_p50_ms,gap_p99_ms,echo_p50_ms,echo_p99_ms")
        + "\r\n"
      for row in measurements.seconds {
        let latencies = [row.p50, row.p99, row.max].map { $0.milliseconds.text(3) }
        let usage = [
          row.usage?.cores.text(3) ?? "", row.watched?.cores.text(3) ?? "",
          row.watched.map { "\($0.residentBytes)" } ?? "",
        ]
        let counts = [row.counts.due, row.counts.unsent, row.counts.completed, row.counts.errors, row.inFlight]
        text +=
          ([row.time.seconds.text(3), row.target.text(1), row.rate.text(1)] + counts.map(String.init)
          + ["\(row.counts.receivedBytes)"] + latencies + usage + Self.streamFields(row.streams))
          .joined(separator: ",") + "\r\n"
      }
      return text
    }

    private static func streamFields(_ row: StreamRow?) -> [String] {
      guard let row else { return [] }
      let latencies = [row.gapP50, row.gapP99, row.echoP50, row.echoP99].map { $0?.milliseconds.text(3) ?? "" }
      return ["\(row.openCount)", "\(row.eventCount)"] + latencies
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
      func addSummary(_ name: String, _ help: String, _ histogram: LatencyHistogram) {
        add(
          name, "summary", help,
          Self.quantiles.map { ("{quantile=\"\($0)\"}", histogram.quantile($0).seconds.text(9)) })
        text += "\(name)_sum \((histogram.sum / 1e9).text(9))\n"
        text += "\(name)_count \(histogram.count)\n"
      }
      addSummary(
        "lupine_bench_latency_seconds", "Latency from when a request was due until it was done.", all.sinceDue)
      guard let streams = measurements.streams else { return text }
      add("lupine_bench_streams_opened_total", "counter", "Streams opened.", [("", "\(streams.openedCount)")])
      add("lupine_bench_streams_open", "gauge", "Streams open at the end.", [("", "\(streams.openCount)")])
      add(
        "lupine_bench_streams_ended_total", "counter", "Streams ended, by how.",
        StreamEnding.allCases.map { ("{ending=\"\($0.rawValue)\"}", "\(streams.count($0))") })
      add(
        "lupine_bench_events_total", "counter", "Events, lines or messages received.", [("", "\(streams.eventCount)")])
      addSummary("lupine_bench_event_gap_seconds", "Time between two events of a stream.", streams.gaps)
      addSummary(
        "lupine_bench_echo_latency_seconds", "Latency from when a message was due until its echo.",
        streams.echoesSinceDue)
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
