// Doubles for tests of a request's life cycle: sessions, adapters, retriers and serializers that the test controls, and
// logs.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// Calls `body` with the session, and retains the session until `body` returns.
func keeping<Value>(_ session: Session, _ body: (Session) async throws -> Value) async throws -> Value {
  defer { withExtendedLifetime(session) {} }
  return try await body(session)
}

extension URLSessionConfiguration {
  /// An ephemeral configuration with Alamofire's default header fields, and with a timeout of 100 s for slow machines.
  static var forTests: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 100
    return configuration
  }
}

/// Collects completion handlers, such as a retrier's, until the test calls them with an answer.
final class Held<Answer: Sendable>: Sendable {
  private let completions = Mutex<[@Sendable (Answer) -> Void]>([])
  /// A gate that opens when the first completion handler has been collected.
  let isAsked = Gate()

  func hold(_ completion: @escaping @Sendable (Answer) -> Void) {
    completions.withLock { $0.append(completion) }
    isAsked.open()
  }

  /// Calls each collected completion handler once with the answer.
  func answer(_ answer: Answer) {
    let waiting = completions.withLock { completions in
      defer { completions = [] }
      return completions
    }
    for completion in waiting { completion(answer) }
  }
}

/// A list of entries that any thread may append to.
final class Log<Entry: Sendable>: Sendable {
  private let notes = Mutex<[Entry]>([])

  var entries: [Entry] { notes.withLock { $0 } }

  /// Appends an entry to the log, and returns the new number of entries.
  @discardableResult
  func note(_ entry: Entry) -> Int {
    notes.withLock { notes in
      notes.append(entry)
      return notes.count
    }
  }
}

/// A mock URLRequestConvertible for `url` that records each call of `asURLRequest()`.
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

/// A response serializer that returns the result of a closure, which receives the body and the request's error.
struct Serializer<Value: Sendable>: DataResponseSerializerProtocol {
  let make: @Sendable (Data?, (any Error)?) throws -> Value

  func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Value { try make(data, error) }
}

/// A mock retrier that completes with the given results in order, and then with `.doNotRetry`. It records the errors that it
/// receives.
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

extension DispatchQueue {
  /// Marks the queue with a key. Returns a closure that returns whether its caller runs on this queue or on a queue that
  /// targets this queue.
  func marked() -> @Sendable () -> Bool {
    let key = DispatchSpecificKey<Bool>()
    setSpecific(key: key, value: true)
    return { DispatchQueue.getSpecific(key: key) == true }
  }
}

/// A Sendable weak reference to an object.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private let reference: Mutex<Unowned>

  private struct Unowned { weak var object: Object? }

  init(_ object: Object?) { reference = Mutex(Unowned(object: object)) }

  var object: Object? { reference.withLock { $0.object } }
}

// Unchecked: the completion of a redirect handler isn't declared Sendable, but may be called on any thread.
/// A box in which a closure that isn't Sendable is passed to another thread, and called there.
struct AnyThread<Value>: @unchecked Sendable {
  let closure: (Value) -> Void

  init(_ closure: @escaping (Value) -> Void) { self.closure = closure }
}

/// A redirect handler that calls a closure, which may complete later and on another thread.
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

/// Returns a server's reply that redirects to the location.
func redirect(to location: String, status: Int = 302) -> Reply {
  Reply(status: status, fields: ["Location": location])
}
