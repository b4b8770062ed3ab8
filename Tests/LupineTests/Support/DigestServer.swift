// DigestServer: a server or proxy for tests that requires Digest authentication (RFC 7616).

import LupineAuthentication
import LupineEngine
import LupineOrigin
import Synchronization

/// Replies with 200 to a request with correct Digest credentials, and with 401 or 407 to all others.
final class DigestServer: Sendable {
  private struct State {
    var nonceCount = 0
    /// The nonce counts that requests have sent with the current nonce.
    var counts: Set<String> = []
    var requests: [String] = []
  }

  private let function: DigestAlgorithm.Function
  private let protection: String
  private let usesMax: Int
  private let isForged: Bool
  private let isProxy: Bool
  private let state = Mutex(State())

  /// Creates a server with the user `u` and the password `p`.
  ///
  /// - Parameters:
  ///   - function: The hash function.
  ///   - protection: The offered qop.
  ///   - usesMax: The number of requests after which a nonce is stale.
  ///   - isForged: Whether the server sends a wrong rspauth.
  ///   - isProxy: Whether it is a proxy, which replies with 407.
  init(
    _ function: DigestAlgorithm.Function = .sha256, protection: String = "auth", usesMax: Int = .max,
    isForged: Bool = false, isProxy: Bool = false
  ) {
    self.function = function
    self.protection = protection
    self.usesMax = usesMax
    self.isForged = isForged
    self.isProxy = isProxy
  }

  /// The status codes of the replies, each with the request's target.
  var requests: [String] { state.withLock { $0.requests } }

  func reply(to request: ReceivedRequest) -> Reply {
    let reply = state.withLock { state in
      let reply = verified(request, &state)
      state.requests.append("\(reply.status) \(request.target)")
      return reply
    }
    return reply
  }

  private func verified(_ request: ReceivedRequest, _ state: inout State) -> Reply {
    guard
      let sent = request.fields.first(isProxy ? "Proxy-Authorization" : "Authorization").flatMap({
        Challenge.parse($0).first
      }),
      sent.isOf(scheme: "Digest")
    else { return refusal(isStale: false, &state) }
    func parameter(_ name: String) -> String { sent.parameter(name) ?? "missing" }
    let key = hash("u:r:p")
    let (nonce, count, clientNonce, qop) = (parameter("nonce"), parameter("nc"), parameter("cnonce"), parameter("qop"))
    func response(to text: String) -> String { hash("\(key):\(nonce):\(count):\(clientNonce):\(qop):\(hash(text))") }
    var text = "\(request.method):\(request.target)"
    if qop == "auth-int" { text += ":\(hash(String(decoding: request.body, as: UTF8.self)))" }
    let isRight = parameter("response") == response(to: text) && parameter("uri") == request.target
    guard isRight, qop == protection else { return refusal(isStale: false, &state) }
    let isCurrent = nonce == "n\(state.nonceCount)" && state.counts.count < usesMax
    guard isCurrent, state.counts.insert(count).inserted else { return refusal(isStale: true, &state) }
    let proof = isForged ? "0" : hash("\(key):\(nonce):\(count):\(clientNonce):auth:\(hash(":\(request.target)"))")
    return .text("in").with(
      isProxy ? "Proxy-Authentication-Info" : "Authentication-Info",
      "qop=auth, rspauth=\"\(proof)\", nc=\(count), cnonce=\"\(clientNonce)\"")
  }

  /// Offers Digest with `function`, Digest with MD5, and Basic. Creates a new nonce if the current one is used up.
  private func refusal(isStale: Bool, _ state: inout State) -> Reply {
    if state.nonceCount == 0 || state.counts.count >= usesMax {
      state.nonceCount += 1
      state.counts = []
    }
    let parameters = "realm=\"r\", nonce=\"n\(state.nonceCount)\", qop=\"\(protection)\", stale=\(isStale)"
    let field = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
    return .text("refused", status: isProxy ? 407 : 401)
      .with(field, "Basic realm=\"r\", Digest \(parameters), algorithm=MD5")
      .with(field, "Digest \(parameters), algorithm=\(DigestAlgorithm(function).token)")
  }

  private func hash(_ text: String) -> String {
    (function.digest.hash(Array(text.utf8)) ?? []).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}

extension Reply {
  /// Returns the reply with an additional field.
  func with(_ name: String, _ value: String) -> Reply {
    var reply = self
    reply.fields.append(name: name, value: value)
    return reply
  }
}
