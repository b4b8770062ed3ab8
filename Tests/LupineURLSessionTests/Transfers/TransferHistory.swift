// TransferHistory: runs a history of a transfer written as text, a list of events with the expected answers.

import Foundation
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine
@testable import LupineLogin
@testable import LupineURLSession

/// A test vector for TransferState: a sequence of events with the expected answers, for a GET of http://h/ with a receive window
/// of 100 bytes.
///
/// Events of the task: "start", "cancel", "suspend CHANGE", "resume CHANGE", "discard", "replace URL", "grant BYTES".
/// Events of submission: "submitted EXCHANGE", "failed" (to be submitted), "changed EXCHANGE" (its flow). Events of the
/// engine: "head STATUS [FIELD: VALUE]", "resent STATUS", "body BYTES", "turn BYTES" (of the request's body), "end [CODE [offline]]
/// [after SECONDS]". On the session's queue: "step", "ask", "asked QUESTION", "answer QUESTION ANSWER". Queries: "request",
/// "counts", "identity" (whether a client certificate was chosen for the request), "time" (the total time limit).
struct TransferHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let url: String
  /// Whether the transfer waits for a network, as with `waitsForConnectivity`.
  let waits: Bool
  /// Whether the observer extends the receive window ("grant"). Otherwise, the transfer extends it after each step.
  let isStreamed: Bool
  let lines: [(event: String, answer: String)]

  init(
    _ name: String, url: String = "http://h/", waits: Bool = false, isStreamed: Bool = true, _ lines: [(String, String)]
  ) {
    testDescription = name
    self.url = url
    self.waits = waits
    self.isStreamed = isStreamed
    self.lines = lines
  }

  func run() throws {
    var run = try TransferRun(url, waits: waits, isStreamed: isStreamed)
    for (number, line) in lines.enumerated() {
      let answer = try run.answer(line.event)
      #expect(answer == line.answer, "line \(number + 1): \(line.event)")
    }
  }
}

/// Runs a history: applies its events to a TransferState, and returns each answer as text.
private struct TransferRun {
  private var state: TransferState
  private let origin: Origin
  /// The redirect about which the TransferState has last asked the observer.
  private var redirect: TransferState.Redirect?
  /// The 401 or 407 about which the TransferState has last asked the observer.
  private var unauthorized: TransferState.Unauthorized?

  init(_ url: String, waits: Bool, isStreamed: Bool) throws {
    var request = EngineRequest(uri: try URI(url))
    request.timeouts.total = .seconds(60)
    origin = request.uri.origin
    state = TransferState(
      request, from: URLRequest(url: try #require(URL(string: url))), redirectRule: RedirectRule(), windowBytes: 100,
      isStreamed: isStreamed, waitsForConnectivity: waits)
  }

  private struct UnknownEvent: Error {
    let event: String
  }

  mutating func answer(_ event: String) throws -> String {
    let words = event.split(separator: " ").map(String.init)
    func number(_ index: Int = 1) throws -> Int {
      try #require(words.count > index ? Int(words[index]) : nil, "\(event)")
    }
    switch words[0] {
    case "start": return state.start().map(text) ?? ""
    case "cancel": return text(state.cancel())
    case "suspend": return text(state.setSuspended(true, change: try number()))
    case "resume": return text(state.setSuspended(false, change: try number()))
    case "discard": return text(state.discardBody())
    case "replace":
      return text(
        state.replace(
          with: EngineRequest(uri: try URI(words[1])), from: URLRequest(url: try #require(URL(string: words[1])))))
    case "grant": return text(state.extendWindow(by: try number()))
    case "submitted": return state.submitted(try number()).map(text) ?? "ended"
    case "failed": return text(state.submissionFailed(URLError(.cannotLoadFromNetwork)))
    case "changed": return text(state.flowChanged(exchange: try number()))
    case "resent":
      let disposition = state.receive(try head(try number(), ""), verdict: .resend)
      return disposition == .deliver ? "wanted" : "unwanted"
    case "head":
      let disposition = state.receive(try head(try number(), words.dropFirst(2).joined(separator: " ")))
      return disposition == .deliver ? "wanted" : "unwanted"
    case "body":
      state.receive(body: [UInt8](repeating: 1, count: try number()).span)
      return ""
    case "served":
      let metrics = ExchangeMetrics(start: Instant(nanoseconds: 0))
      let field = words.dropFirst(3).joined(separator: " ")
      return text(state.served(try head(try number(), field), Data(count: try number(2)), metrics))
    case "certificate": return text(state.identityRequested(from: [[]]))
    case "turn": return text(state.turnEnded(sent: UInt64(try number())))
    case "end": return text(try end(Array(words.dropFirst())))
    case "step": return state.nextStep().map { text($0) } ?? "none"
    case "ask": return state.ask().map(String.init) ?? "none"
    case "asked": return text(state.asked(try number()))
    case "answer": return text(state.answered(try number(), try answer(Array(words.dropFirst(2)))))
    case "request": return "\(state.urlRequest.url?.absoluteString ?? "-") \(state.request.uri.description)"
    case "counts":
      return "exchanges \(state.exchangeCount) performed \(state.performed.count) redirects \(state.redirects.count) "
        + "challenges \(state.attempts.total) received \(state.receivedByteCount) sent \(state.sentByteCount)"
    case "identity": return state.request.identityChoice == nil ? "none" : "chosen"
    case "time": return "\(state.request.timeouts.total?.components.seconds ?? -1)"
    default: throw UnknownEvent(event: event)
    }
  }

  // MARK: Events

  private func head(_ status: Int, _ field: String) throws -> ResponseHead {
    let text = "HTTP/1.1 \(status) X\r\n\(field)\(field.isEmpty ? "" : "\r\n")Content-Length: 0\r\n\r\n"
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    let bytes = Array(text.utf8)
    guard case .head(let head, _, _) = try connection.receive(bytes.span, at: &cursor) else {
      throw UnknownEvent(event: text)
    }
    return head
  }

  private mutating func end(_ words: [String]) throws -> TransferState.Action? {
    var metrics = ExchangeMetrics(start: Instant(nanoseconds: 0))
    var words = words
    if words.count > 1, words[words.count - 2] == "after" {
      metrics.end = Instant(nanoseconds: try #require(UInt64(words[words.count - 1])) * 1_000_000_000)
      words.removeLast(2)
    }
    guard let word = words.first else { return state.exchangeEnded(.success, metrics) }
    let code = try #require(EngineError.Code(rawValue: word) as EngineError.Code?, "\(word)")
    if words.last == "offline" {
      let cause = EngineError.Cause.system(SystemError(call: "connect", code: ENETUNREACH))
      return state.exchangeEnded(.failure(EngineError(code, .connect, origin, cause: cause)), metrics)
    }
    // If the connection isn't open yet, it is lost while the request waits for a connection. A tunnel is refused by its proxy.
    var refusal = ProxyError(.credentialsRequired(schemes: ["Basic"], hadCredentials: false), "http://p:1")
    refusal.challenges = Challenge.parse("Basic")
    let error = EngineError(
      code, code == .connectionLost && words.last == "missing" ? .poolWait : .receive, origin,
      cause: code == .proxyFailed ? .proxy(refusal) : nil)
    return state.exchangeEnded(.failure(error), metrics)
  }

  private func answer(_ words: [String]) throws -> TransferState.Answer {
    switch words[0] {
    case "accept": return .accept
    case "refuse": return .refuse
    case "present": return .present
    case "authorize": return .authorize(words[1])
    case "resend": return .resend(isAttempt: words.last == "attempt")
    case "reject": return .reject(try #require(unauthorized))
    case "identify": return .identify(.anonymous)
    case "follow":
      let redirect = try #require(redirect)
      guard words.count > 1 else { return .follow(redirect.next, redirect.proposed) }
      // The observer chooses another URL.
      var (next, chosen) = (redirect.next, redirect.proposed)
      next.uri = try URI(words[1])
      chosen.url = URL(string: words[1])
      return .follow(next, chosen)
    case "fail": return .fail(URLError(.badURL))
    case "handover": return .handOver(URLRequest(url: try #require(URL(string: "http://h/p"))))
    case "network": return .networkFound(after: .seconds(try #require(Int(words[1]))))
    default: throw UnknownEvent(event: words[0])
    }
  }

  // MARK: Answers

  private func text(_ action: TransferState.Action?) -> String { action.map { text([$0]) } ?? "" }

  private func text(_ actions: [TransferState.Action]) -> String {
    actions.map { action in
      switch action {
      case .deliver: "deliver"
      case .pause(let exchange): "pause \(exchange)"
      case .resume(let exchange): "resume \(exchange)"
      case .discardBody: "discard"
      case .extendWindow(let byteCount): "grant \(byteCount)"
      case .cancel: "cancel"
      }
    }.joined(separator: "; ")
  }

  private func text(_ submission: TransferState.Submission) -> String {
    let authorization = submission.request.fields.first("Authorization").map { " as \($0)" } ?? ""
    return "submit \(submission.exchange): \(submission.request.uri.description)\(authorization)"
  }

  private mutating func text(_ step: TransferState.Step) -> String {
    switch step {
    case .notifySent(let byteCount): return "sent \(byteCount)"
    case .authenticate(let unauthorized):
      self.unauthorized = unauthorized
      let rejected = unauthorized.rejectedCount > 0 ? ", \(unauthorized.rejectedCount) rejected" : ""
      return "authenticate, \(unauthorized.failureCount) refused\(rejected)"
    case .present(let response, let isLast): return "present \(response.statusCode)\(isLast ? " last" : "")"
    case .deliver(let piece): return "piece \(piece.count)"
    case .extendWindow(let byteCount): return "grant \(byteCount)"
    case .redirect(let redirect):
      self.redirect = redirect
      let refusal = redirect.refusal.map { ", refused: \($0.code.rawValue)" } ?? ""
      return "redirect \(redirect.response.statusCode) to \(redirect.proposed.url?.absoluteString ?? "-")\(refusal)"
    case .identify(let origin, let authorities): return "identify \(origin.host) \(authorities.count)"
    case .submit(let submission): return text(submission)
    case .awaitNetwork(let wait): return "await network \(wait.count) for \(wait.limit?.components.seconds ?? -1) s"
    case .handOver(let request): return "hand over \(request.url?.absoluteString ?? "-")"
    case .end(let error): return error.map { "end \(Self.names[$0.code] ?? "\($0.code.rawValue)")" } ?? "end"
    }
  }

  private static let names: [URLError.Code: String] = [
    .badURL: "badURL", .cancelled: "cancelled", .cannotLoadFromNetwork: "cannotLoadFromNetwork",
    .httpTooManyRedirects: "httpTooManyRedirects", .networkConnectionLost: "networkConnectionLost",
    .badServerResponse: "badServerResponse", .notConnectedToInternet: "notConnectedToInternet",
    .cannotConnectToHost: "cannotConnectToHost",
  ]
}
