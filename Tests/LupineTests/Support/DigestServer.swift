// DigestServer: a server or proxy for tests that requires Digest authentication (RFC 7616).

import LupineAuthentication
import LupineEngine
import LupineOrigin
import Synchronization

/// A mock server or proxy with Digest authentication. It responds with 200 to a request with correct Digest credentials, and
/// with 401 or 407 to all others.
final class DigestServer: Sendable {
  private struct State {
    var nonceCount = 0
    /// The nonce counts (`nc`) that requests have sent with the server's current nonce.
    var counts: Set<String> = []
    var requests: [String] = []
  }

  private let function: DigestAlgorithm.Function
  private let protection: String
  private let usesMax: Int
  private let isForged: Bool
  private let isProxy: Bool
  private let state = Mutex(State())

  /// Creates a server that accepts the user name `u` with the password `p`.
  ///
  /// - Parameters:
  ///   - function: The hash function of the Digest algorithm.
  ///   - protection: The quality of protection (`qop`) that the server offers.
  ///   - usesMax: The number of requests after which the server regards a nonce as stale.
  ///   - isForged: Whether the server sends a wrong `rspauth`, as if it didn't know the password.
  ///   - isProxy: Whether the server is a proxy, which responds with 407 instead of 401.
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

  /// The status code of each response so far, with the request target, such as "401 /".
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

  /// Returns a 401 or 407 that offers Digest with `function`, Digest with MD5, and Basic. Creates a new nonce if the current
  /// nonce has been used `usesMax` times.
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
  /// Returns a copy of the reply with an additional header field.
  func with(_ name: String, _ value: String) -> Reply {
    var reply = self
    reply.fields.append(name: name, value: value)
    return reply
  }
}
