// Obligations: the minimum work that Alamofire's contract requires with this engine. Its cost is a lower bound for any API.

import EngineLoad
import Foundation
import LoadMeasure
import Lupine
import LupineEngine
import Synchronization

/// The minimum work for a request that Alamofire's contract requires, with the engine and without Alamofire's API.
///
/// A request is created from a string on the root queue, where its response also arrives. The response is serialized on a separate
/// queue and passed to a cancellable task. Four notifications are posted. Programs rely on each of these steps.
struct Obligations: Sendable {
  private let engine: Engine
  private let rootQueue: DispatchQueue
  private let serializationQueue: DispatchQueue
  private let notifications = Notifications()

  init(_ load: Load) throws {
    engine = try load.makeEngine()
    rootQueue = DispatchQueue(label: "root")
    serializationQueue = DispatchQueue(label: "serialization", target: rootQueue)
  }

  /// Requests the URL and returns the response body.
  func body(of url: String) async throws -> Data {
    let request = BareRequest(on: rootQueue, serializationQueue, notifications)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        request.start(url, by: engine, for: continuation)
      }
    } onCancel: {
      request.cancel()
    }
  }
}

// Unchecked because of the dictionary: AnyHashable isn't Sendable, but its string is, and the dictionary never changes.
/// Posts notifications with as little work as Lupine's monitor: the key isn't hashed each time.
private final class Notifications: @unchecked Sendable {
  private let userInfo: [AnyHashable: Any] = ["org.alamofire.notification.key.request": ()]

  func post(_ name: Notification.Name, about request: BareRequest) {
    NotificationCenter.default.post(name: name, object: nil, userInfo: userInfo.mapValues { _ in request })
  }
}

/// One request, from its creation on the root queue to the task that awaits its response.
private final class BareRequest: ResponseSink {
  private struct State {
    var handle: ExchangeHandle?
    var body: [UInt8] = []
    var continuation: CheckedContinuation<Data, any Error>?
  }

  private let rootQueue: DispatchQueue
  private let serializationQueue: DispatchQueue
  private let notifications: Notifications
  private let state = Mutex(State())

  init(on rootQueue: DispatchQueue, _ serializationQueue: DispatchQueue, _ notifications: Notifications) {
    self.rootQueue = rootQueue
    self.serializationQueue = serializationQueue
    self.notifications = notifications
  }

  func start(_ string: String, by engine: Engine, for continuation: CheckedContinuation<Data, any Error>) {
    state.withLock { $0.continuation = continuation }
    rootQueue.async { [self] in
      do {
        guard let url = URL(string: string) else { throw URLError(.badURL) }
        var fields = Fields()
        for (name, value) in Load.fields { fields.append(name: name, value: value) }
        let request = EngineRequest(uri: try URI(url.absoluteString), fields: fields)
        tell(Request.didResumeNotification)
        let handle = engine.submit(request, to: self)
        tell(Request.didResumeTaskNotification)
        state.withLock { $0.handle = handle }
      } catch {
        resume(.failure(error))
      }
    }
  }

  func cancel() { state.withLock { $0.handle }?.cancel() }

  func receive(head: ResponseHead) -> BodyDisposition {
    guard head.status == 200 else { Load.fail("the status is \(head.status)") }
    return .deliver
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { state in
      for index in bytes.indices { state.body.append(bytes[index]) }
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    rootQueue.async { [self] in
      tell(Request.didCompleteTaskNotification)
      tell(Request.didFinishNotification)
      serializationQueue.async { [self] in
        resume(result.map { _ in Data(state.withLock { $0.body }) }.mapError { $0 })
      }
    }
  }

  private func tell(_ name: Notification.Name) { notifications.post(name, about: self) }

  private func resume(_ result: Result<Data, any Error>) {
    state.withLock { $0.continuation.take() }?.resume(with: result)
  }
}
