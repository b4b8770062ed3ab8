// LocustTests: the encodings and the dialog of a worker with Locust's master. A run with the real Locust is in LoadTesting.md.

#if Bench
  import LupineEngine
  import Testing

  @testable import LupineBench

  @Suite struct LocustTests {
    @Test("MessagePack values are decoded from all their encodings, and encoded ones are decoded again")
    func messagePack() {
      // Written by msgpack-python: (\"spawn\", {\"a\": [1, -1, 300, 1.5, None, True], 5: \"é\"}, \"id\")
      let packed: [UInt8] = [
        0x93, 0xA5, 0x73, 0x70, 0x61, 0x77, 0x6E, 0x82, 0xA1, 0x61, 0x96, 0x01, 0xFF, 0xCD, 0x01, 0x2C, 0xCB, 0x3F,
        0xF8, 0,
        0, 0, 0, 0, 0, 0xC0, 0xC3, 0x05, 0xA2, 0xC3, 0xA9, 0xA2, 0x69, 0x64,
      ]
      let value: MessagePack = .array([
        "spawn",
        .map([
          .init(key: "a", value: .array([.int(1), .int(-1), .int(300), .double(1.5), .null, .bool(true)])),
          .init(key: .int(5), value: "é"),
        ]), "id",
      ])
      #expect(MessagePack(packed) == value)
      var encoded: [UInt8] = []
      value.encode(into: &encoded)
      #expect(MessagePack(encoded) == value)
      for count in packed.indices { #expect(MessagePack(Array(packed.prefix(count))) == nil) }
    }

    @Test(
      "hostile MessagePack is refused without large allocations",
      arguments: [
        [0xDD, 0xFF, 0xFF, 0xFF, 0xFF], [0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0], [0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 0x61], [0xC1],
        Array(repeating: 0x91, count: 100), [0xC0, 0xC0], [0xC7, 1, 1, 1], [],
      ] as [[UInt8]])
    func hostile(bytes: [UInt8]) { #expect(MessagePack(bytes) == nil) }

    private static let peerReady: [UInt8] = ZMTP.ready(identity: "master")

    @Test("ZMTP's handshake and messages are processed in any split")
    func transport() throws {
      let long = [UInt8](repeating: 7, count: 300)
      // PING, which needs no answer in version 3.0, a message in two parts, and a long one.
      let ping: [UInt8] = [0x04, 7, 4, 0x50, 0x49, 0x4E, 0x47, 0, 0]
      let bytes = ZMTP.greeting + Self.peerReady + ping + [0x01, 0, 0x00, 2, 1, 2] + ZMTP.message(long)
      for size in [1, 2, 63, 64, 65, bytes.count] {
        var (zmtp, messages) = (ZMTP(), [[UInt8]]())
        for start in stride(from: 0, to: bytes.count, by: size) {
          messages += try zmtp.receive(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        #expect(zmtp.isReady)
        #expect(messages == [[1, 2], long])
      }
    }

    @Test("a peer that isn't ZMTP with the mechanism NULL, and frames that are too long, are refused")
    func refusedTransport() throws {
      var zmtp = ZMTP()
      #expect(throws: ZMTPError.notZMTP) { try zmtp.receive(Array(repeating: 0x48, count: 64)) }
      zmtp = ZMTP()
      var greeting = ZMTP.greeting
      greeting.replaceSubrange(12..<16, with: Array("PLAI".utf8))
      #expect(throws: ZMTPError.otherMechanism) { try zmtp.receive(greeting) }
      zmtp = ZMTP()
      #expect(throws: ZMTPError.tooLong(byteCount: .max)) {
        try zmtp.receive(ZMTP.greeting + [0x02] + Array(repeating: 0xFF, count: 8))
      }
      zmtp = ZMTP()
      #expect(throws: ZMTPError.malformedCommand) { try zmtp.receive(ZMTP.greeting + [0, 1, 1]) }
    }

    private func spawn(_ time: Double, _ count: Int64) -> MessagePack {
      ["timestamp": .double(time), "user_classes_count": ["User": .int(count)], "host": .null]
    }

    @Test(
      "a worker says that it is ready until the master acknowledges it, follows the number of users, stops and ends")
    func dialog() {
      var worker = LocustWorkerState(now: 0)
      let ready = LocustWorkerState.Action.send("client_ready", .int(-1))
      #expect(worker.connected(now: 0) == [ready])
      func types(_ actions: [LocustWorkerState.Action]) -> [String] {
        actions.map { action in
          switch action {
          case .send(let type, _): type
          case .report: "report"
          case .setUsers(let users): "users \(users["User"] ?? 0)"
          case .reconnect: "reconnect"
          case .end: "end"
          }
        }
      }
      func tick(_ now: Double) -> [String] { types(worker.tick(now: now, cores: 0.5, residentBytes: 1)) }
      #expect(tick(1) == ["heartbeat"])
      #expect(tick(1.5).isEmpty)
      #expect(tick(5) == ["client_ready", "heartbeat", "report"])
      #expect(worker.receive("ack", ["index": .int(0)], now: 5).isEmpty)
      #expect(tick(11) == ["heartbeat", "report"])
      #expect(types(worker.receive("spawn", spawn(100, 5), now: 12)) == ["spawning", "users 5", "spawning_complete"])
      #expect(worker.users == ["User": 5])
      // A message that is older, or that came before, changes nothing.
      #expect(types(worker.receive("spawn", spawn(99, 1), now: 12)) == ["spawning"])
      #expect(types(worker.receive("spawn", spawn(100, 1), now: 12)) == ["spawning"])
      #expect(types(worker.receive("spawn", spawn(101, 3), now: 13)) == ["spawning", "users 3", "spawning_complete"])
      // A second connection may be to another master, whose clock differs.
      #expect(types(worker.connected(now: 13)) == ["users 0", "client_ready"])
      #expect(types(worker.receive("spawn", spawn(7, 2), now: 13)) == ["spawning", "users 2", "spawning_complete"])
      #expect(types(worker.receive("stop", .null, now: 14)) == ["users 0", "report", "client_stopped", "client_ready"])
      #expect(types(worker.receive("reconnect", .null, now: 15)) == ["reconnect"])
      #expect(worker.receive("heartbeat", .null, now: 15).isEmpty)
      #expect(types(worker.receive("quit", .null, now: 16)) == ["users 0", "report", "end"])
    }

    @Test("a worker reports nothing while its connection is being opened, so that no results are lost")
    func reconnecting() {
      var worker = LocustWorkerState(now: 0)
      _ = worker.connected(now: 0)
      _ = worker.receive("ack", .null, now: 1)
      worker.connecting()
      #expect(!worker.tick(now: 4, cores: 0, residentBytes: 0).contains(.report))
      _ = worker.connected(now: 5)
      #expect(worker.tick(now: 5, cores: 0, residentBytes: 0).contains(.report))
    }

    @Test("a worker opens a new connection if the master is silent for a minute")
    func silence() {
      var worker = LocustWorkerState(now: 0)
      _ = worker.connected(now: 0)
      _ = worker.receive("ack", .null, now: 1)
      #expect(!worker.tick(now: 60, cores: 0, residentBytes: 0).contains(.reconnect))
      #expect(worker.tick(now: 61, cores: 0, residentBytes: 0) == [.reconnect])
    }

    @Test(
      "latencies are rounded as in Locust",
      arguments: [(0.4, 0), (99.6, 100), (123, 120), (1_234, 1_200), (12_345, 12_000)] as [(Double, Int64)])
    func rounding(milliseconds: Double, rounded: Int64) {
      #expect(LocustStatistics.rounded(milliseconds: milliseconds) == rounded)
    }

    @Test("a report contains the requests since the previous report")
    func report() {
      var statistics = LocustStatistics(names: ["a", "b"], start: 1_000)
      let due = Instant(nanoseconds: 0)
      for (milliseconds, status) in [(5, 200), (7, 200), (150, 503)] {
        statistics.add(
          Sample(
            scenario: 0, due: due, sent: due, end: due + .milliseconds(milliseconds),
            result: .success(Scenario.Outcome(status: status, receivedBytes: 10))), at: 1_001.5)
      }
      let report = statistics.report(users: ["User": 2])
      guard case .array(let stats)? = report["stats"], stats.count == 1 else {
        Issue.record("\(report)")
        return
      }
      #expect(stats[0]["name"] == "a")
      #expect(stats[0]["num_requests"] == .int(3) && stats[0]["num_failures"] == .int(1))
      #expect(stats[0]["total_response_time"] == .double(162) && stats[0]["max_response_time"] == .double(150))
      #expect(
        stats[0]["response_times"]
          == .map([5, 7, 150].map { .init(key: .int($0), value: .int(1)) }))
      #expect(stats[0]["num_reqs_per_sec"] == .map([.init(key: .int(1_001), value: .int(3))]))
      #expect(report["user_count"] == .int(2))
      guard case .map(let errors)? = report["errors"] else { return }
      #expect(errors.map { $0.value["error"] } == ["status 503"])
      guard case .array(let rest)? = statistics.report(users: [:])["stats"] else { return }
      #expect(rest.isEmpty)
    }
  }
#endif
