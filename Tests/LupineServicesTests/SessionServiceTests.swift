// SessionServiceTests: a session's end with its service group, and its settings from a configuration.

#if Services
  import Configuration
  import Foundation
  import LupineEngine
  import LupineOrigin
  import LupineServices
  import LupineServicesFoundation
  import LupineURLSession
  import ServiceLifecycleTestKit
  import Testing

  @Suite("The service and the settings of a session", .timeLimit(.minutes(5)))
  struct SessionServiceTests {
    private let arrived = Gate()
    private let go = Gate()

    private func server() throws -> OriginServer {
      let (arrived, go) = (arrived, go)
      return try OriginServer { peer in
        while let request = try peer.readRequest() {
          arrived.open()
          try peer.wait(for: go)
          try peer.respond(body: Array(request.path.utf8))
        }
      }
    }

    /// Starts a request whose response doesn't arrive before `go` is opened.
    private func begin(_ session: URLSession, _ origin: OriginServer) async throws -> Task<
      Result<Data, URLError>, any Error
    > {
      let url = try #require(URL(string: "\(origin.url)/slow"))
      let task = Task {
        do {
          return Result<Data, URLError>.success(try await session.data(from: url).0)
        } catch let error as URLError {
          return .failure(error)
        }
      }
      await arrived.wait()
      return task
    }

    @Test("a graceful shutdown of the group waits for the session's tasks, and makes the session invalid")
    func graceful() async throws {
      let origin = try server()
      defer { origin.stop() }
      let session = URLSession(configuration: .ephemeral)
      try await testGracefulShutdown { trigger in
        async let end: Void = SessionService(session).run()
        let slow = try await begin(session, origin)
        trigger.triggerGracefulShutdown()
        while session.isValid { await Task.yield() }
        go.open()
        #expect(try await slow.value == .success(Data("/slow".utf8)))
        await end
      }
    }

    @Test("after the service's own time limit, a graceful shutdown cancels the session's tasks")
    func limited() async throws {
      let origin = try server()
      defer { origin.stop() }
      let session = URLSession(configuration: .ephemeral)
      try await testGracefulShutdown { trigger in
        async let end: Void = SessionService(session, gracefulShutdownLimit: .zero).run()
        let slow = try await begin(session, origin)
        trigger.triggerGracefulShutdown()
        await end
        #expect(try await slow.value.code == .cancelled)
      }
    }

    @Test("when the service's task is cancelled, the session's tasks are cancelled at once")
    func cancelled() async throws {
      let origin = try server()
      defer { origin.stop() }
      let session = URLSession(configuration: .ephemeral)
      let slow = try await begin(session, origin)
      let service = Task { await SessionService(session).run() }
      service.cancel()
      await service.value
      #expect(try await slow.value.code == .cancelled)
    }

    @Test("the service of the shared session, which can't be invalidated, ends with the group")
    func shared() async throws {
      await testGracefulShutdown { trigger in
        async let end: Void = SessionService(.shared).run()
        trigger.triggerGracefulShutdown()
        await end
      }
      #expect(URLSession.shared.isValid)
    }

    @Test("a session's configuration gets the values that a configuration has, and keeps the others")
    func settings() throws {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = 30
      configuration.engine.pool.idleMax = 7
      try configuration.update(from: ConfigReader(provider: InMemoryProvider(values: ["other": "value"])))
      #expect(configuration.timeouts == nil && configuration.httpMaximumConnectionsPerHost == 6)
      try configuration.update(
        from: ConfigReader(
          provider: InMemoryProvider(values: [
            "timeout.readMs": 1_500, "connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit": 9,
            "redirect.maxRedirects": 3,
          ])))
      #expect(
        configuration.timeouts?.firstByte == .milliseconds(1_500) && configuration.timeouts?.connect == .seconds(30))
      #expect(configuration.httpMaximumConnectionsPerHost == 9 && configuration.engine.pool.idleMax == 7)
      #expect(configuration.redirectRule.countMax == 3)
    }

    @Test("a session's configuration refuses to follow no redirects, which the delegate decides, and stays unchanged")
    func disallow() {
      let configuration = URLSessionConfiguration.ephemeral
      let values: [AbsoluteConfigKey: ConfigValue] = ["redirect.mode": "disallow", "maximumUsesPerConnection": 5]
      let error = #expect(throws: SettingError.self) {
        try configuration.update(from: ConfigReader(provider: InMemoryProvider(values: values)))
      }
      #expect(error?.key == "redirect.mode" && error?.found == .value("disallow"))
      #expect(configuration.engine.pool.usesPerConnectionMax == nil)
    }
  }

  extension Result where Failure == URLError {
    fileprivate var code: URLError.Code? {
      if case .failure(let error) = self { error.code } else { nil }
    }
  }
#endif
