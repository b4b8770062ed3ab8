// LoadReport+OTLP: the report as OpenTelemetry metrics in JSON (OTLP 1, the message ExportMetricsServiceRequest).

#if Bench
  internal import Histogram

  extension LoadReport {
    /// The report as OpenTelemetry metrics in OTLP's JSON encoding, to be sent to a collector's `/v1/metrics` with POST.
    ///
    /// Counters are cumulative sums from the start of the measurement. Latencies are histograms in seconds.
    public var otlp: String {
      let all = measurements.all
      var metrics = [
        sum("due", "{request}", [point(dueCount)]), sum("unsent", "{request}", [point(unsentCount)]),
        sum("late", "{request}", [point(lateCount)]), sum("completed", "{request}", [point(completedCount)]),
        sum("errors", "{request}", errors.sorted { $0.key < $1.key }.map { point($0.value, ("kind", $0.key)) }),
        sum("received", "By", [point(Int(clamping: all.receivedBytes))]),
        histogram(
          "latency",
          zip(scenarioNames, measurements.scenarios).map { name, totals in
            distribution(totals.sinceDue, ("scenario", name))
          }),
        histogram(
          "phase",
          RequestPhase.allCases.compactMap { phase in
            measurements.phases[phase].map { distribution($0, ("phase", phase.rawValue)) }
          }),
      ]
      if let streams = measurements.streams {
        metrics += [
          sum("streams.opened", "{stream}", [point(streams.openedCount)]),
          sum(
            "streams.ended", "{stream}",
            StreamEnding.allCases.map { point(streams.count($0), ("ending", $0.rawValue)) }),
          sum("events", "{event}", [point(streams.eventCount)]), histogram("event.gap", [distribution(streams.gaps)]),
          histogram("echo.latency", [distribution(streams.echoesSinceDue)]),
        ]
      }
      let scope: JSONText = JSONText([
        "scope": JSONText(["name": JSONText("lupine-bench")]), "metrics": JSONText(metrics),
      ])
      let resource = JSONText(["attributes": JSONText([Self.attribute("service.name", "lupine-bench")])])
      return JSONText([
        "resourceMetrics": JSONText([JSONText(["resource": resource, "scopeMetrics": JSONText([scope])])])
      ]).text + "\n"
    }

    /// AggregationTemporality's AGGREGATION_TEMPORALITY_CUMULATIVE. OTLP's JSON writes enumerations as numbers.
    private static let cumulative = JSONText(2)
    /// The upper limits of the histograms' buckets in seconds: 1, 2 and 5 times the powers of ten from 10 µs to 100 s.
    private static let bounds: [Double] =
      [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10].flatMap { [$0, 2 * $0, 5 * $0] } + [100]

    private func sum(_ name: String, _ unit: String, _ points: [JSONText]) -> JSONText {
      metric(
        name, unit, "sum",
        ["dataPoints": JSONText(points), "aggregationTemporality": Self.cumulative, "isMonotonic": JSONText(true)])
    }

    private func histogram(_ name: String, _ points: [JSONText]) -> JSONText {
      metric(
        name, "s", "histogram", ["dataPoints": JSONText(points), "aggregationTemporality": Self.cumulative])
    }

    private func metric(
      _ name: String, _ unit: String, _ kind: String, _ data: KeyValuePairs<String, JSONText?>
    ) -> JSONText {
      JSONText(members: [
        ("name", JSONText("lupine_bench.\(name)")), ("unit", JSONText(unit)), (kind, JSONText(data)),
      ])
    }

    /// A point with a count. OTLP's JSON writes 64-bit integers as strings.
    private func point(_ count: Int, _ attribute: (String, String)? = nil) -> JSONText {
      JSONText(members: header(attribute) + [("asInt", JSONText("\(count)"))])
    }

    private func distribution(_ histogram: LatencyHistogram, _ attribute: (String, String)? = nil) -> JSONText {
      var counts = Self.bounds.map { _ in UInt64(0) } + [0]
      for value in histogram.counts.recordedValues() {
        let seconds = Double(value.value) / 1e9
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += value.count
      }
      return JSONText(
        members: header(attribute) + [
          ("count", JSONText("\(histogram.count)")), ("sum", JSONText(histogram.sum / 1e9)),
          ("bucketCounts", JSONText(counts.map { JSONText("\($0)") })),
          ("explicitBounds", JSONText(Self.bounds.map { JSONText($0) })),
        ])
    }

    private func header(_ attribute: (String, String)?) -> [(String, JSONText?)] {
      let start = UInt64(max(0, startTime) * 1e9)
      let end = start + UInt64(max(.zero, duration).seconds * 1e9)
      return [
        ("attributes", JSONText([attribute].compactMap(\.self).map { Self.attribute($0.0, $0.1) })),
        ("startTimeUnixNano", JSONText("\(start)")), ("timeUnixNano", JSONText("\(end)")),
      ]
    }

    private static func attribute(_ key: String, _ value: String) -> JSONText {
      JSONText(["key": JSONText(key), "value": JSONText(["stringValue": JSONText(value)])])
    }
  }
#endif
