// LocustWorkerState: what a worker answers to Locust's master, and when it reports. Pure: events in, actions out.

#if Bench
  /// The dialog of a worker with Locust's master.
  struct LocustWorkerState {
    enum Action: Equatable {
      case send(_ type: String, MessagePack)
      /// Sends the results since the previous report.
      case report
      /// Changes the number of users, by the names of the master's classes.
      case setUsers([String: Int64])
      /// Opens a new connection, and discards the present one.
      case reconnect
      case end
    }

    /// The interval of heartbeats, as in Locust: 1 s.
    static let heartbeatInterval = 1.0
    /// The interval of reports, as in Locust: 3 s.
    static let reportInterval = 3.0
    /// The time after which `client_ready` is sent again if the master hasn't acknowledged it, as in Locust: 5 s.
    static let readyInterval = 5.0
    /// The time without a message of the master after which the connection is opened again: 60 s, as in Locust, where the worker ends.
    static let silenceMax = 60.0

    private enum Phase: String {
      case ready, spawning, running, stopped
    }

    private var phase = Phase.ready
    /// Whether a connection is open, so that messages reach the master.
    private var isConnected = false
    private var isAcknowledged = false
    private(set) var users: [String: Int64] = [:]
    private var lastSpawn = -Double.infinity
    private var lastHeartbeat = -Double.infinity
    private var lastReport: Double
    private var lastReady = -Double.infinity
    private var lastMessage: Double

    init(now: Double) { (lastReport, lastMessage) = (now, now) }

    /// Called when a connection to the master is about to be opened. Until it is open, nothing is reported, because the results
    /// would be lost.
    mutating func connecting() { isConnected = false }

    /// Called when a connection to the master is open. If it isn't the first one, the load ends until the master sends users again: it
    /// may be another master, and the same master distributes its users anew when a worker joins.
    mutating func connected(now: Double) -> [Action] {
      isConnected = true
      (isAcknowledged, lastReady, lastMessage, lastSpawn) = (false, now, now, -Double.infinity)
      let hadUsers = !users.isEmpty
      (users, phase) = ([:], .ready)
      return hadUsers ? [.setUsers([:]), ready] : [ready]
    }

    /// Called at least every second while connected. `cores` is the use of the processor, where 1 is one core.
    mutating func tick(now: Double, cores: Double, residentBytes: UInt64) -> [Action] {
      var actions: [Action] = []
      guard now - lastMessage < Self.silenceMax else {
        lastMessage = now
        return [.reconnect]
      }
      if !isAcknowledged, now - lastReady >= Self.readyInterval {
        lastReady = now
        actions.append(ready)
      }
      if now - lastHeartbeat >= Self.heartbeatInterval {
        lastHeartbeat = now
        actions.append(
          .send(
            "heartbeat",
            [
              "state": .text(phase.rawValue), "current_cpu_usage": .double(cores * 100),
              "current_memory_usage": .int(Int64(clamping: residentBytes)),
            ]))
      }
      if isConnected, now - lastReport >= Self.reportInterval {
        lastReport = now
        actions.append(.report)
      }
      return actions
    }

    /// Called with each message of the master.
    mutating func receive(_ type: String, _ data: MessagePack, now: Double) -> [Action] {
      lastMessage = now
      switch type {
      case "ack":
        isAcknowledged = true
        return []
      case "spawn": return spawn(data)
      case "stop":
        (users, phase) = ([:], .ready)
        return [.setUsers([:]), .report, .send("client_stopped", .null), ready]
      case "quit":
        (users, phase) = ([:], .stopped)
        return [.setUsers([:]), .report, .end]
      case "reconnect": return [.reconnect]
      // The master's heartbeat, and messages for locustfiles.
      default: return []
      }
    }

    private mutating func spawn(_ job: MessagePack) -> [Action] {
      // Messages may overtake each other when the master sends them again. An old one is only acknowledged.
      guard let time = job["timestamp"]?.number, time > lastSpawn, case .map(let counts)? = job["user_classes_count"]
      else {
        return [.send("spawning", .null)]
      }
      lastSpawn = time
      users = [:]
      for member in counts {
        guard case .text(let name) = member.key, case .int(let count) = member.value else { continue }
        users[name] = max(0, count)
      }
      phase = .running
      return [
        .send("spawning", .null), .setUsers(users),
        .send(
          "spawning_complete",
          [
            "user_classes_count": LocustStatistics.counts(users), "user_count": .int(users.values.reduce(0, +)),
          ]),
      ]
    }

    // The master compares versions. -1 says that the worker is another program.
    private var ready: Action { .send("client_ready", .int(-1)) }
  }
#endif
