// LoginHistory: runs a history of a session's authentications written as text, a list of events with the expected answers.

import LupineAuthentication
import Testing

@testable import LupineEngine
@testable import LupineLogin

/// A test vector for TaskAuthentication: a sequence of events with the expected answers.
///
/// - "get URL", "put URL": the task sends a new request, which has content in case of "put".
/// - "follow URL": the task sends the latest request to another URL, with the same fields, as after a redirect.
/// - "again": the task sends the latest request again. Its Authorization field is that of the latest answer, if there is one.
/// - "200 VALUE", "401 VALUE", "407 VALUE", "tunnel VALUE", "missing": the response or the failure. VALUE is the challenge of a 401,
///   a 407 or a refused CONNECT, and the Authentication-Info or the WWW-Authenticate of any other response.
/// - "answer USER": the caller answers the first offer with the credential of a user, whose password is "pw".
/// - "task": the task ends, and another task of the session continues.
///
/// A prepared request is written as its credential for the origin, its credential for the proxy in brackets, "group N", "open" if it
/// needs an open connection, and "empty" if it is sent without its content. Of the fields, the nonce and its count are shown for
/// Digest, the number of the message for NTLM, and the token for Negotiate.
struct LoginHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The proxy's URL, or nil for requests without a proxy.
  let proxy: String?
  /// The user whose credential the storage permits for any challenge, or nil.
  let known: String?
  let lines: [(event: String, answer: String)]

  init(_ name: String, via proxy: String? = nil, known: String? = nil, _ lines: [(String, String)]) {
    testDescription = name
    self.proxy = proxy
    self.known = known
    self.lines = lines
  }

  // CHALLENGE_MESSAGE without names: flags, a nonce, and an empty list of attributes (MS-NLMP 2.2.1.2)
  static let challenge: [UInt8] =
    Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + [0, 0, 0, 0, 48, 0, 0, 0] + [0x01, 0x02, 0x88, 0x00]
    + [1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 8) + [4, 0, 4, 0, 48, 0, 0, 0]
    + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 0]

  func run() throws {
    var run = try LoginRun(proxy.map { try Proxy($0) }, known.map { PasswordCredential(user: $0, password: "pw") })
    for (number, line) in lines.enumerated() {
      let answer = try run.answer(line.event)
      #expect(answer == line.answer, "line \(number + 1): \(line.event)")
    }
  }
}

/// A security context that sends the token [1], then [2], and accepts the server's token [9] as its proof.
private struct TwoSteps: SecurityContext {
  private var count: UInt8 = 0

  init() {}

  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
    count += 1
    if token == [9] { return .established(nil, isMutual: true) }
    guard count < 3 else { throw SecurityContextError("the token isn't the server's") }
    return .proceed([count])
  }
}

private struct LoginRun {
  private let proxy: Proxy?
  private let known: KnownCredentials
  private let session = LoginSession(
    AuthenticationSources(
      nonce: { "c" }, bytes: { [1, 2, 3, 4, 5, 6, 7, 8] }, time: { 0 }, context: { _, _ in TwoSteps() }))
  private var task: LoginTask
  private var request = EngineRequest(uri: URI(Origin(scheme: .http, host: "h", port: 80)))
  private var question: AuthenticationQuestion?

  init(_ proxy: Proxy?, _ credential: PasswordCredential?) {
    self.proxy = proxy
    var known = KnownCredentials.ofProxies
    if let credential { known.credential = { _, _, _ in credential } }
    self.known = known
    task = LoginTask(session, known)
  }

  private struct UnknownEvent: Error {
    let event: String
  }

  mutating func answer(_ event: String) throws -> String {
    let (word, value) =
      event.firstIndex(of: " ").map { (event[..<$0], String(event[$0...].dropFirst())) } ?? (event[...], "")
    switch word {
    case "get", "put":
      request = EngineRequest(
        method: word.uppercased(), uri: try URI(value), body: word == "put" ? RequestBody("content") : RequestBody())
      return send()
    case "follow":
      request.uri = try URI(value)
      return send()
    case "again": return send()
    case "task":
      task.end()
      task = LoginTask(session, known)
      return ""
    case "answer":
      let question = try #require(question)
      let offer = try #require(question.offers.first)
      let credential = PasswordCredential(user: value == "nobody" ? "" : value, password: value == "nobody" ? "" : "pw")
      return text(task.respond(to: offer, of: question, with: credential))
    case "tunnel":
      var cause = ProxyError(.credentialsRequired(schemes: [], hadCredentials: false), "http://p:1")
      cause.challenges = Challenge.parse(value)
      return try react(to: EngineError(.proxyFailed, .proxy, request.uri.origin, cause: .proxy(cause)))
    case "missing": return try react(to: EngineError(.connectionLost, .poolWait, request.uri.origin))
    default:
      guard let status = Int(word) else { throw UnknownEvent(event: event) }
      return receive(status, value)
    }
  }

  private mutating func receive(_ status: Int, _ value: String) -> String {
    let isProof = value.hasPrefix("Negotiate") || value.hasPrefix("NTLM")
    let name =
      [401: "WWW-Authenticate", 407: "Proxy-Authenticate"][status]
      ?? (isProof ? "WWW-Authenticate" : "Authentication-Info")
    var fields = Fields()
    fields.append(name: name, value: value)
    let head = ResponseHead(status: status, fields: fields, isContentDecoded: false)
    let verdict = task.verdict(on: head)
    guard verdict == .trusted, status == 401 || status == 407 else { return "\(verdict)" }
    return text(task.reaction(to: .response(head), request, via: proxy))
  }

  private mutating func react(to error: EngineError) throws -> String {
    text(task.reaction(to: try #require(AuthenticationRefusal(error)), request, via: proxy))
  }

  private func send() -> String {
    do throws(ConnectionHandshake.Failure) {
      let sent = try task.prepare(request, via: proxy).request
      let demand = sent.connectionDemand
      let proxied = demand?.proxyAuthorization
      return [
        Self.text(sent.fields.first("Authorization")), proxied.map { "[\(Self.text($0.value))]" } ?? "",
        demand?.group.map { "group \($0)" } ?? "", demand?.needsOpenConnection == true ? "open" : "",
        request.body.isEmpty || !sent.body.isEmpty ? "" : "empty",
      ].filter { !$0.isEmpty }.joined(separator: " ")
    } catch {
      return "\(error)"
    }
  }

  private mutating func text(_ reaction: TaskAuthentication.Reaction) -> String {
    switch reaction {
    case .authorize(let value): return text(AuthenticationAnswer.authorize(value))
    case .resend: return "resend"
    case .stand: return "stand"
    case .ask(let question):
      self.question = question
      return (["ask"] + question.offers.map { "\($0.scheme)" }).joined(separator: " ")
    }
  }

  private mutating func text(_ answer: AuthenticationAnswer) -> String {
    guard case .authorize(let value) = answer else { return "\(answer)" }
    request.fields.remove("Authorization")
    request.fields.append(name: "Authorization", value: value)
    return "authorize"
  }

  private static func text(_ value: String?) -> String {
    guard let value else { return "nothing" }
    guard let challenge = Challenge.parse(value).first else { return value }
    switch challenge.scheme {
    case "Digest": return "Digest \(challenge.parameter("nonce") ?? "") \(Int(challenge.parameter("nc") ?? "") ?? 0)"
    case "NTLM": return "NTLM \(Base64.decode(String(value.dropFirst(5)))?[8] ?? 0)"
    default: return value
    }
  }
}
