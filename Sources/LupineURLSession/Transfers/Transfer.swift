// One task's way through the engine: the exchanges of its redirects and challenges, the response, the body.

import Foundation
import LupineEngine
import Synchronization

/// Hears of a transfer, one call at a time, on the session's queue. Answers may be given at once or later, from anywhere.
protocol TransferObserver: AnyObject, Sendable {
  /// The response redirects: `answer` is to be called with the request to send, or nil to take the response as it is.
  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void)
  /// The server wants a credential.
  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void)
  /// Whether anybody has something to say about the final response's head; it is welcome otherwise.
  var decidesOnResponse: Bool { get }
  /// The final response's head came: `answer` is to be called with whether its body is wanted.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void)
  /// A piece of the body came.
  func transfer(didReceive body: Data)
  /// That much of the request's body was sent so far.
  func transfer(didSend byteCount: Int64)
  /// The transfer has ended; called exactly once, at last.
  func transferDidComplete(_ error: URLError?)
}

/// Sends a request, follows its redirects and hands the final response over.
///
/// What comes on the loop is collected, and dealt with on the session's queue in steps. A step may ask the observer
/// something; the next one waits for the answer, and what the server sends waits in the kernel.
final class Transfer: ResponseSink {
  /// One request that was sent, for the metrics.
  struct Attempt: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse?
    let metrics: ExchangeMetrics
  }

  /// What came on the loop since the last delivery.
  struct Batch {
    var sentByteCount: Int64?
    var head: ResponseHead?
    /// The latest piece of the body; and those before it.
    var body = Data()
    var earlierPieces: [Data] = []
    var end: Result<Fields, EngineError>?

    /// Up to how many bytes pieces are joined: 256 KiB, which is what the engine reads at once and the default of
    /// `EngineConfiguration.windowBytes`. Each piece costs its observers the same, whatever its length.
    private static let joinedBytesMax = 256 * 1024
    /// From how many bytes on a piece gets room for all that may be joined to it: 32 KiB. A shorter one may be all that
    /// comes for a while.
    private static let roomyBytesMin = 32 * 1024

    /// Adds a piece of the body: to the latest one, up to a length, or all of it in one piece if there is no window.
    mutating func append(body bytes: borrowing Span<UInt8>, windowBytes: Int?) {
      if let windowBytes {
        if !body.isEmpty, body.count + bytes.count > Self.joinedBytesMax {
          earlierPieces.append(body)
          body = Data()
        }
        let count = body.count + bytes.count
        if count >= Self.roomyBytesMin { body.reserveCapacity(max(count, min(windowBytes, Self.joinedBytesMax))) }
      }
      body.append(copying: bytes, 0..<bytes.count)
    }

    /// Takes the piece of the body that came first.
    mutating func takePiece() -> Data {
      guard earlierPieces.isEmpty else { return earlierPieces.removeFirst() }
      var piece = Data()
      swap(&piece, &body)
      return piece
    }

    /// What is dealt with first of it.
    var step: Step? {
      if sentByteCount != nil { return .sent }
      if head != nil { return .head }
      if !body.isEmpty { return .body }
      return end == nil ? nil : .end
    }
  }

  /// What the observer was asked.
  struct Question {
    let number: Int
    /// Whether an answer is being dealt with; any other comes too late.
    var isAnswered = false
  }

  /// What is done next on the session's queue.
  enum Step {
    // What stands in the batch.
    case sent, head, body, end
    // What an answer has led to.
    case present(isLast: Bool)
    indirect case send(EngineRequest)
    case complete(URLError?)
  }

  /// What follows once an exchange has ended; the rest of its response's body is then of no interest.
  enum Successor {
    /// What the response redirects to, if the observer agrees.
    indirect case redirect(EngineRequest)
    /// The response redirects to where nobody may follow.
    indirect case failure(EngineError)
    /// The same request with a credential, or the one that is sent instead.
    indirect case replacement(EngineRequest, URLRequest)
  }

  struct State {
    var observer: (any TransferObserver)?
    var request: EngineRequest
    var urlRequest: URLRequest
    var handle: ExchangeHandle?
    /// What the engine wasn't granted yet.
    var owedByteCount = 0
    /// Whether the rest of the body was given up, maybe before the handle was here.
    var isDiscarding = false
    var isExchanging = false
    /// The number of the exchange that is under way or was the last.
    var exchange = 0
    var redirectCount = 0
    /// What the task wants.
    var isPaused = false
    var isCancelled = false

    var batch = Batch()
    /// Whether a delivery is under way or will come.
    var isScheduled = false
    /// What was decided and comes before anything else.
    var decided: Step?
    /// The question whose answer the next step waits for.
    var question: Question?
    var questionCount = 0
    /// Whether the question wasn't answered at once.
    var isWaiting = false

    var response: HTTPURLResponse?
    var receivedByteCount: Int64 = 0
    var sentByteCount: Int64 = 0
    var successor: Successor?
    var challengeCount = 0
    /// What was measured of the exchanges that have ended, in order.
    var metrics: ShortList<ExchangeMetrics> = []
    /// What those were about, as far as their ends were dealt with.
    var performed: ShortList<(URLRequest, HTTPURLResponse?)> = []

    var isHeld: Bool { isPaused || isWaiting }

    /// Takes an answer's turn; false if another was quicker, or nobody waits for it any more.
    mutating func claim(question number: Int) -> Bool {
      guard question?.number == number, question?.isAnswered == false else { return false }
      question?.isAnswered = true
      return true
    }

    mutating func noteSent(_ byteCount: UInt64) {
      let sent = Int64(clamping: byteCount)
      if sent > sentByteCount { batch.sentByteCount = sent }
    }
  }

  let client: EngineClient
  let delivery: ReadyTransfers
  /// How many bytes of the body may come before some were granted again; without a limit if nil.
  let windowBytes: Int?
  /// How long the request's body is as long as no redirect takes it away, or nil if that isn't known.
  let bodyByteCount: UInt64?
  let state: Mutex<State>

  /// Takes a converted request; nothing is sent before `begin`.
  init(
    _ request: EngineRequest, from urlRequest: URLRequest, client: EngineClient, delivery: ReadyTransfers,
    windowBytes: Int?, observer: any TransferObserver
  ) {
    self.client = client
    self.delivery = delivery
    self.windowBytes = windowBytes
    bodyByteCount = request.body.byteCount
    state = Mutex(State(observer: observer, request: request, urlRequest: urlRequest))
  }

  // MARK: What the task does

  /// Ends the transfer with an error, wherever it is.
  func cancel() {
    let handle = state.withLock { state -> ExchangeHandle? in
      state.isCancelled = true
      if !state.isExchanging {
        // Between two exchanges, where the answer to a question is waited for.
        state.question = nil
        state.decided = .complete(URLError(.cancelled))
      }
      return state.handle
    }
    handle?.cancel()
    schedule()
  }

  /// Reads no more of the body; the transfer ends as if all of it had come.
  func discardBody() {
    let handle = state.withLock { state in
      state.isDiscarding = true
      return state.handle
    }
    handle?.discardBody()
  }

  /// Reads no more of the body, and sends another request, whose response counts. For who is asked about a response.
  func sendInstead(_ urlRequest: URLRequest) throws(URLError) {
    let request = try client.convert(urlRequest)
    state.withLock { $0.successor = .replacement(request, urlRequest) }
    discardBody()
  }

  /// Stops reading, and goes on.
  func setPaused(_ isPaused: Bool) {
    state.withLock { $0.isPaused = isPaused }
    steer()
  }

  /// Lets that many more bytes of the body come, once they are half a window: a piece for each piece would become ever
  /// smaller ones.
  func grant(_ byteCount: Int) {
    guard let windowBytes else { return }
    let granted = state.withLock { state -> (ExchangeHandle, Int)? in
      state.owedByteCount += byteCount
      guard let handle = state.handle, state.owedByteCount >= windowBytes / 2 else { return nil }
      defer { state.owedByteCount = 0 }
      return (handle, state.owedByteCount)
    }
    if let (handle, byteCount) = granted { handle.extendWindow(by: byteCount) }
  }

  /// Tells the engine whether to read. Another thread may change that meanwhile, so it is looked at again.
  func steer() {
    while true {
      let (isHeld, handle) = state.withLock { ($0.isHeld, $0.handle) }
      if isHeld { handle?.pause() } else { handle?.resume() }
      if state.withLock({ $0.isHeld }) == isHeld { return }
    }
  }

  // MARK: What is known of it

  /// The request as redirects have left it.
  var currentRequest: URLRequest { state.withLock { $0.urlRequest } }
  /// The final response's head, once it came.
  var httpResponse: HTTPURLResponse? { state.withLock { $0.response } }
  /// How many bytes of the body came, decoded.
  var receivedByteCount: Int64 { state.withLock { $0.receivedByteCount } }
  /// How many bytes of the request's body were sent. It never goes back: of a body that is sent again, because of a
  /// redirect, a challenge or a connection that was found closed, only what comes behind the bytes that were counted counts.
  var sentByteCount: Int64 { state.withLock { $0.sentByteCount } }
  /// The requests that were sent, in order.
  var attempts: [Attempt] {
    state.withLock { state in
      zip(state.performed, state.metrics).map { Attempt(request: $0.0, response: $0.1, metrics: $1) }
    }
  }

  // MARK: What the engine says, on the loop

  func receive(head: ResponseHead) -> BodyDisposition {
    storeCookies(of: head)
    return state.withLock { state in
      do throws(EngineError) {
        let next = try client.redirectRule.next(after: head, to: state.request, count: state.redirectCount)
        state.successor = next.map { .redirect($0) }
      } catch {
        state.successor = .failure(error)
      }
      state.batch.head = head
      return state.successor == nil ? .deliver : .discard
    }
  }

  private func storeCookies(of head: ResponseHead) {
    guard client.wantsCookies(of: head) else { return }
    let (uri, urlRequest) = state.withLock { ($0.request.uri, $0.urlRequest) }
    guard urlRequest.httpShouldHandleCookies else { return }
    client.storeCookies(of: head, from: uri, mainDocument: urlRequest.mainDocumentURL)
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { $0.batch.append(body: bytes, windowBytes: windowBytes) }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    state.withLock { state in
      state.batch.end = result
      state.metrics.append(metrics)
      state.noteSent(metrics.requestBodyBytes)
    }
    schedule()
  }

  func turnEnded(sentBodyByteCount: UInt64) {
    state.withLock { $0.noteSent(sentBodyByteCount) }
    schedule()
  }
}
