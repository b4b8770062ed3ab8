// EngineServiceTests: an engine's shutdown with its service group: graceful, limited and abrupt.

#if Services
  import LupineEngine
  import LupineOrigin
  import LupineServices
  import ServiceLifecycleTestKit
  import Testing

  @Suite("The service of an engine", .timeLimit(.minutes(5)))
  struct EngineServiceTests {
    /// A server that answers requests for "/slow" only after `go` was opened.
    private struct Stage {
      let arrived = Gate()
      let go = Gate()
      let origin: OriginServer
      let engine: Engine

      init() throws {
        let (arrived, go) = (arrived, go)
        origin = try OriginServer { peer in
          while let request = try peer.readRequest() {
            if request.path == "/slow" {
              arrived.open()
              try peer.wait(for: go)
            }
            try peer.respond(body: Array(request.path.utf8))
          }
        }
        engine = try Engine()
      }

      /// Starts a request whose response doesn't arrive before `go` is opened.
      func begin() async throws -> Task<Result<[UInt8], EngineError>, Never> {
        let request = EngineRequest(uri: try URI("\(origin.url)/slow"))
        let engine = engine
        let task = Task {
          do throws(EngineError) {
            return Result<[UInt8], EngineError>.success(try await engine.collect(request).body)
          } catch {
            return .failure(error)
          }
        }
        await arrived.wait()
        return task
      }

      /// Returns when the engine refuses new requests.
      func refuses() async throws {
        let request = EngineRequest(uri: try URI("\(origin.url)/fast"))
        while true {
          do throws(EngineError) {
            _ = try await engine.collect(request)
          } catch {
            #expect(error.code == .shutDown)
            return
          }
        }
      }
    }

    @Test("a graceful shutdown of the group waits for the engine's requests in flight, and refuses new ones")
    func graceful() async throws {
      let stage = try Stage()
      defer { stage.origin.stop() }
      try await testGracefulShutdown { trigger in
        async let end: Void = EngineService(stage.engine).run()
        let slow = try await stage.begin()
        trigger.triggerGracefulShutdown()
        try await stage.refuses()
        stage.go.open()
        #expect(try await slow.value.get() == Array("/slow".utf8))
        await end
      }
      #expect(await stage.engine.counters() == PoolCounters())
    }

    @Test("after the service's own time limit, a graceful shutdown ends the engine's requests in flight")
    func limited() async throws {
      let stage = try Stage()
      defer { stage.origin.stop() }
      try await testGracefulShutdown { trigger in
        async let end: Void = EngineService(stage.engine, gracefulShutdownLimit: .zero).run()
        let slow = try await stage.begin()
        trigger.triggerGracefulShutdown()
        await end
        #expect(await slow.value.code == .shutDown)
      }
    }

    @Test("when the service's task is cancelled, the engine's requests in flight end at once")
    func cancelled() async throws {
      let stage = try Stage()
      defer { stage.origin.stop() }
      let slow = try await stage.begin()
      let service = Task { await EngineService(stage.engine).run() }
      service.cancel()
      await service.value
      #expect(await slow.value.code == .shutDown)
    }

    @Test("when the service's task is cancelled during a graceful shutdown, the requests in flight end at once")
    func cancelledLater() async throws {
      let stage = try Stage()
      defer { stage.origin.stop() }
      try await testGracefulShutdown { trigger in
        let service = Task { await EngineService(stage.engine, gracefulShutdownLimit: .seconds(3_600)).run() }
        let slow = try await stage.begin()
        trigger.triggerGracefulShutdown()
        try await stage.refuses()
        service.cancel()
        await service.value
        #expect(await slow.value.code == .shutDown)
      }
    }
  }

  extension Result where Failure == EngineError {
    fileprivate var code: EngineError.Code? {
      if case .failure(let error) = self { error.code } else { nil }
    }
  }
#endif
