// Doubles for tests of a request's life cycle: sessions, adapters, retriers and serializers that the test controls, and
// logs.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// Calls `body` with a session, and keeps the session alive until it returns.
func keeping<Value>(_ session: Session, _ body: (Session) async throws -> Value) async throws -> Value {
  defer { withExtendedLifetime(session) {} }
  return try await body(session)
}

extension URLSessionConfiguration {
  /// A configuration without Alamofire's shared storages, and with a time limit of 100 s, for slow machines.
  static var forTests: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 100
    return configuration
  }
}

/// Completion handlers that are held until the test calls them with an answer.
final class Held<Answer: Sendable>: Sendable {
  private let completions = Mutex<[@Sendable (Answer) -> Void]>([])
  /// Opens when the first completion handler is held.
  let isAsked = Gate()

  func hold(_ completion: @escaping @Sendable (Answer) -> Void) {
    completions.withLock { $0.append(completion) }
    isAsked.open()
  }

  /// Calls all held completion handlers with the answer, and forgets them.
  func answer(_ answer: Answer) {
    let waiting = completions.withLock { completions in
      defer { completions = [] }
      return completions
    }
    for completion in waiting { completion(answer) }
  }
}

/// Entries noted on any thread, in order.
final class Log<Entry: Sendable>: Sendable {
  private let notes = Mutex<[Entry]>([])

  var entries: [Entry] { notes.withLock { $0 } }

  /// Appends an entry, and returns the number of entries.
  @discardableResult
  func note(_ entry: Entry) -> Int {
    notes.withLock { notes in
      notes.append(entry)
      return notes.count
    }
  }
}

/// Converts to a request for `url`, and records each conversion.
struct Convertible: URLRequestConvertible {
  let url: String
  var method = HTTPMethod.get
  let made = Log<Void>()
  var onMaking: @Sendable () -> Void = {}

  func asURLRequest() throws -> URLRequest {
    made.note(())
    onMaking()
    return try URLRequest(url: url, method: method)
  }
}

/// A serializer that calls a closure with the body and the error.
struct Serializer<Value: Sendable>: DataResponseSerializerProtocol {
  let make: @Sendable (Data?, (any Error)?) throws -> Value

  func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Value { try make(data, error) }
}

/// A retrier that gives its answers in order, then `.doNotRetry`, and records the errors that it received.
final class ScriptedRetrier: RequestInterceptor {
  private let answers: Mutex<[RetryResult]>
  let errors = Log<AFError?>()
  let onAsk: @Sendable (Request) -> Void

  init(_ answers: [RetryResult], onAsk: @escaping @Sendable (Request) -> Void = { _ in }) {
    self.answers = Mutex(answers)
    self.onAsk = onAsk
  }

  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    errors.note(error.asAFError)
    onAsk(request)
    completion(answers.withLock { $0.isEmpty ? .doNotRetry : $0.removeFirst() })
  }
}

extension URLSession {
  /// The tasks that haven't completed.
  var allTasks: [URLSessionTask] {
    get async { await withCheckedContinuation { continuation in getAllTasks { continuation.resume(returning: $0) } } }
  }
}

extension DispatchQueue {
  /// Waits until all work queued so far has run.
  func drain() async {
    await withCheckedContinuation { continuation in async { continuation.resume() } }
  }

  /// Marks the queue. Returns a closure that tells whether its caller runs on this queue or on a queue that targets it.
  func marked() -> @Sendable () -> Bool {
    let key = DispatchSpecificKey<Bool>()
    setSpecific(key: key, value: true)
    return { DispatchQueue.getSpecific(key: key) == true }
  }
}

/// A weak reference that can be sent to another thread.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private let reference: Mutex<Unowned>

  private struct Unowned { weak var object: Object? }

  init(_ object: Object?) { reference = Mutex(Unowned(object: object)) }

  var object: Object? { reference.withLock { $0.object } }
}

// Unchecked: a redirect handler's completion isn't marked as sendable, but may be called on any thread.
/// A closure that is sent to another thread and called there.
struct AnyThread<Value>: @unchecked Sendable {
  let closure: (Value) -> Void

  init(_ closure: @escaping (Value) -> Void) { self.closure = closure }
}

/// A redirect handler made from a closure, which may answer later.
struct RedirectClosure: RedirectHandler {
  let decide: @Sendable (URLRequest, HTTPURLResponse, @escaping @Sendable (URLRequest?) -> Void) -> Void

  func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void
  ) {
    let answer = AnyThread(completion)
    decide(request, response) { answer.closure($0) }
  }
}

/// Returns a redirect to the location.
func redirect(to location: String, status: Int = 302) -> Reply {
  Reply(status: status, fields: ["Location": location])
}
