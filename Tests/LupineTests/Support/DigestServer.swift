// DigestServer: an origin's Digest authentication for tests, which verifies each response by RFC 7616's formulas.

import LupineAuthentication
import LupineEngine
import LupineOrigin
import Synchronization

/// Replies to requests with 401 until they prove the password of a user, and then with 200.
final class DigestServer: Sendable {
  private struct State {
    var nonceCount = 0
    /// The counts with which the current nonce was used.
    var counts: Set<String> = []
    var requests: [String] = []
  }

  private let function: DigestAlgorithm.Function
  private let protection: String
  private let usesMax: Int
  private let isForged: Bool
  private let state = Mutex(State())

  /// Creates a server with the user `u` and the password `p`.
  ///
  /// - Parameters:
  ///   - function: The hash function.
  ///   - protection: The offered qop.
  ///   - usesMax: The number of requests after which a nonce is stale.
  ///   - isForged: Whether the server's own proof is wrong.
  init(
    _ function: DigestAlgorithm.Function = .sha256, protection: String = "auth", usesMax: Int = .max,
    isForged: Bool = false
  ) {
    self.function = function
    self.protection = protection
    self.usesMax = usesMax
    self.isForged = isForged
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
    guard let sent = request.fields.first("Authorization").flatMap({ Challenge.parse($0).first }),
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
      "Authentication-Info", "qop=auth, rspauth=\"\(proof)\", nc=\(count), cnonce=\"\(clientNonce)\"")
  }

  /// Offers Digest with a new nonce if the current one was used up, and a weaker function and Basic besides.
  private func refusal(isStale: Bool, _ state: inout State) -> Reply {
    if state.nonceCount == 0 || state.counts.count >= usesMax {
      state.nonceCount += 1
      state.counts = []
    }
    let parameters = "realm=\"r\", nonce=\"n\(state.nonceCount)\", qop=\"\(protection)\", stale=\(isStale)"
    return .text("refused", status: 401)
      .with("WWW-Authenticate", "Basic realm=\"r\", Digest \(parameters), algorithm=MD5")
      .with("WWW-Authenticate", "Digest \(parameters), algorithm=\(DigestAlgorithm(function).token)")
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
