// Alamofire4SpanTests: the spans of requests with Alamofire 4's API.

#if Observability
  import Alamofire4
  import Foundation
  import InMemoryTracing
  import LupineEngine
  import LupineObservability
  import LupineOrigin
  import Synchronization
  import Testing
  import Tracing

  @Suite("Spans of Alamofire 4's API", .timeLimit(.minutes(10))) struct Alamofire4SpanTests {
    private final class Repeater: RequestRetrier {
      func should(
        _ manager: SessionManager, retry request: Request, with error: any Error,
        completion: @escaping RequestRetryCompletion
      ) {
        completion(request.retryCount < 2, 0)
      }
    }

    @Test("each retry has a separate span with the parent of the request's creation")
    func retries() async throws {
      let recording = Recording()
      try await withServer { _ in
        Reply(status: 503)
      } _: { origin in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.engine.proxy = .none
        configuration.engine.observability = recording.settings
        let manager = SessionManager(configuration: configuration)
        manager.retrier = Repeater()
        let (parent, end) = (recording.tracer.startSpan("server", context: .topLevel), Gate())
        // A synchronous function, because the compiler prefers asynchronous overloads elsewhere.
        func start() {
          ServiceContext.withValue(parent.context) {
            _ = manager.request(origin.url).validate().response(queue: .global()) { _ in end.open() }
          }
        }
        start()
        await end.wait()
        #expect(recording.spans.map(\.resendCount) == [nil, "1", "2"])
        #expect(recording.spans.allSatisfy { $0.parentSpanID == parent.context.inMemorySpanContext?.spanID })
        withExtendedLifetime(manager) {}
      }
    }
  }
#endif
