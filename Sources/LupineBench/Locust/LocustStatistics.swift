// LocustStatistics: the results of a worker since its previous report, in the form that Locust's master adds up.

#if Bench
  internal import LupineEngine

  /// The requests since the previous report.
  struct LocustStatistics {
    fileprivate struct Entry {
      var completed = 0
      var failures = 0
      var receivedBytes: UInt64 = 0
      var total = 0.0
      var least = Double.infinity
      var greatest = 0.0
      var lastTime = 0.0
      /// The number of requests by their rounded latency in milliseconds.
      var latencies: [Int64: Int64] = [:]
      /// The number of requests and of failures by the second in which they ended.
      var bySecond: [Int64: Int64] = [:]
      var failuresBySecond: [Int64: Int64] = [:]
    }

    private struct Failure: Hashable {
      let scenario: Int
      let kind: String
    }

    private let names: [String]
    private var entries: [Entry]
    private var total = Entry()
    private var failures: [Failure: (count: Int, first: Double, last: Double)] = [:]
    private var start: Double

    /// Begins at the time `start`, in seconds since 1970.
    init(names: [String], start: Double) {
      (self.names, self.start) = (names, start)
      entries = names.map { _ in Entry() }
    }

    /// Adds a sample that ended at `time`, in seconds since 1970.
    mutating func add(_ sample: Sample, at time: Double) {
      entries[sample.scenario].add(sample, at: time)
      total.add(sample, at: time)
      guard let kind = sample.errorKind else { return }
      let failure = Failure(scenario: sample.scenario, kind: kind)
      let (count, first, _) = failures[failure] ?? (0, time, time)
      failures[failure] = (count + 1, first, time)
    }

    /// Returns the report since the previous one, and begins the next one.
    mutating func report(users: [String: Int64]) -> MessagePack {
      let stats = zip(names, entries).filter { $1.completed > 0 }.map { $1.report(name: $0, start: start) }
      let errors = failures.map { failure, value in
        MessagePack.Member(
          key: .text("\(failure.scenario) \(failure.kind)"),
          value: [
            "name": .text(names[failure.scenario]), "method": "", "error": .text(failure.kind),
            "occurrences": .int(Int64(value.count)), "first_seen": .double(value.first),
            "last_seen": .double(value.last),
          ])
      }
      let report: MessagePack = [
        "stats": .array(stats), "stats_total": total.report(name: "Aggregated", start: start),
        "errors": .map(errors), "user_classes_count": Self.counts(users), "user_count": .int(users.values.reduce(0, +)),
      ]
      entries = names.map { _ in Entry() }
      (total, failures) = (Entry(), [:])
      return report
    }

    static func counts(_ users: [String: Int64]) -> MessagePack {
      .map(users.sorted { $0.key < $1.key }.map { MessagePack.Member(key: .text($0.key), value: .int($0.value)) })
    }

    /// Rounds a latency as Locust does: to two significant digits from 100 ms on, to limit the number of different ones.
    static func rounded(milliseconds: Double) -> Int64 {
      let unit: Double =
        switch milliseconds {
        case ..<100: 1
        case ..<1_000: 10
        case ..<10_000: 100
        default: 1_000
        }
      return Int64((milliseconds / unit).rounded() * unit)
    }
  }

  extension LocustStatistics.Entry {
    fileprivate mutating func add(_ sample: Sample, at time: Double) {
      let milliseconds = (sample.end - sample.due).milliseconds
      completed += 1
      if case .success(let outcome) = sample.result { receivedBytes += outcome.receivedBytes }
      (least, greatest, total, lastTime) = (
        min(least, milliseconds), max(greatest, milliseconds), total + milliseconds, time
      )
      latencies[LocustStatistics.rounded(milliseconds: milliseconds), default: 0] += 1
      bySecond[Int64(time), default: 0] += 1
      guard sample.errorKind != nil else { return }
      failures += 1
      failuresBySecond[Int64(time), default: 0] += 1
    }

    fileprivate func report(name: String, start: Double) -> MessagePack {
      func counts(_ counts: [Int64: Int64]) -> MessagePack {
        .map(counts.sorted { $0.key < $1.key }.map { MessagePack.Member(key: .int($0.key), value: .int($0.value)) })
      }
      return [
        "name": .text(name), "method": "",
        "last_request_timestamp": completed > 0 ? .double(lastTime) : .null, "start_time": .double(start),
        "num_requests": .int(Int64(completed)), "num_none_requests": .int(0), "num_failures": .int(Int64(failures)),
        "total_response_time": .double(total), "max_response_time": .double(greatest),
        "min_response_time": completed > 0 ? .double(least) : .null,
        "total_content_length": .int(Int64(clamping: receivedBytes)), "response_times": counts(latencies),
        "num_reqs_per_sec": counts(bySecond), "num_fail_per_sec": counts(failuresBySecond),
      ]
    }
  }
#endif
