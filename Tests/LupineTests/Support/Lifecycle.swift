// What tests of a request's life need: sessions made in a test's own way, hold-ups, and what counts calls.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// Calls `body` with a session, which lives until it returns.
func keeping<Value>(_ session: Session, _ body: (Session) async throws -> Value) async throws -> Value {
  defer { withExtendedLifetime(session) {} }
  return try await body(session)
}

extension URLSessionConfiguration {
  /// Without Alamofire's shared storages, and with time enough for a slow machine.
  static var forTests: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 100
    return configuration
  }
}

/// Answers that somebody waits for, held until the test gives them.
final class Held<Answer: Sendable>: Sendable {
  private let completions = Mutex<[@Sendable (Answer) -> Void]>([])
  /// Opens when the first answer is waited for.
  let isAsked = Gate()

  func hold(_ completion: @escaping @Sendable (Answer) -> Void) {
    completions.withLock { $0.append(completion) }
    isAsked.open()
  }

  /// Gives the answer to everybody who waits, and forgets them.
  func answer(_ answer: Answer) {
    let waiting = completions.withLock { completions in
      defer { completions = [] }
      return completions
    }
    for completion in waiting { completion(answer) }
  }
}

/// What was noted on any thread, in order.
final class Log<Entry: Sendable>: Sendable {
  private let notes = Mutex<[Entry]>([])

  var entries: [Entry] { notes.withLock { $0 } }

  /// Notes it; returns how many there are now.
  @discardableResult
  func note(_ entry: Entry) -> Int {
    notes.withLock { notes in
      notes.append(entry)
      return notes.count
    }
  }
}

/// A request to one URL that notes each time it is made.
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

/// A serializer made of a closure that gets the body and the error.
struct Serializer<Value: Sendable>: DataResponseSerializerProtocol {
  let make: @Sendable (Data?, (any Error)?) throws -> Value

  func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Value { try make(data, error) }
}

/// A retrier that gives its answers in turn, then refuses, and notes what it was asked about.
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
  /// The tasks that haven't ended.
  var allTasks: [URLSessionTask] {
    get async { await withCheckedContinuation { continuation in getAllTasks { continuation.resume(returning: $0) } } }
  }
}

extension DispatchQueue {
  /// Waits until everything was done that was asked for before.
  func drain() async {
    await withCheckedContinuation { continuation in async { continuation.resume() } }
  }

  /// Marks the queue; returns what says whether the caller is on it, or on one that stands on it.
  func marked() -> @Sendable () -> Bool {
    let key = DispatchSpecificKey<Bool>()
    setSpecific(key: key, value: true)
    return { DispatchQueue.getSpecific(key: key) == true }
  }
}

/// A reference that keeps nothing alive.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private let reference: Mutex<Unowned>

  private struct Unowned { weak var object: Object? }

  init(_ object: Object?) { reference = Mutex(Unowned(object: object)) }

  var object: Object? { reference.withLock { $0.object } }
}

// Unchecked since that is what it says: a redirect handler's completion may be called on any thread.
/// A closure that is called on another thread than the one on which it came.
struct AnyThread<Value>: @unchecked Sendable {
  let closure: (Value) -> Void

  init(_ closure: @escaping (Value) -> Void) { self.closure = closure }
}

/// A redirect handler made of a closure, which may answer later.
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

/// A redirect to a place.
func redirect(to location: String, status: Int = 302) -> Reply {
  Reply(status: status, fields: ["Location": location])
}
