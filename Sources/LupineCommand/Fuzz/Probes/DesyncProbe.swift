// DesyncProbe: several requests on one connection, with which two servers in a chain might disagree about the end of a
// request (request smuggling, RFC 9112 §11.2), or a server might confuse responses. DesyncProbe+Requests.swift has the probes.

/// Requests for one connection, and the responses that they must get. `LupineWire` parses the responses, so this type needs no I/O.
struct DesyncProbe {
  /// The request that a response must answer.
  enum Answer: String, Codable {
    /// Any response is permitted, including an error.
    case any
    /// The response to the request without mutations.
    case own
    /// The response to the marked request.
    case marked
  }

  /// The kind of the probe and its variant, such as "CL.TE: Transfer-Encoding: xchunked".
  let name: String
  /// The bytes to send. Each part is sent after the responses to the parts before it.
  let parts: [[UInt8]]
  /// The responses that the requests must get, in order. A server may close the connection before each of them.
  let expected: [Answer]
  let terms: Terms

  /// How to judge the responses, as far as the probe determines it.
  struct Terms: Codable, Equatable {
    /// The marker in the target of the marked request, which occurs in no other probe of the run.
    var marker: String
    /// Whether all requests are valid, so that a server must not wait for more bytes, and must not read the content of one as another
    /// request.
    var isValid: Bool
    /// Whether a server that returns the fields of a request may return the marker in the response to the other request.
    var showsMarker = false
    /// The bytes that a faulty server takes for a request, for the message. Nil if the probe hides none.
    var place: String?
  }

  /// Returns the number of responses that must have arrived before the next part is sent, for each part.
  static func awaitedCounts(_ parts: [[UInt8]], _ expected: [Answer]) -> [Int] {
    parts.indices.map { $0 == parts.count - 1 ? expected.count : $0 + 1 }
  }
}

/// How the server answers the request without mutations and the marked request when each is alone on its connection.
struct DesyncBaseline: Codable, Equatable {
  var ownStatus: Int
  /// The status of the marked request, if it differs from `ownStatus`.
  var markedStatus: Int?
  /// Whether the response to the marked request contains its marker, and later responses to the other request don't.
  var echoes = false

  /// Whether the two responses differ visibly.
  var isDistinct: Bool { markedStatus != nil || echoes }
}

extension DesyncProbe.Terms {
  /// Judges the responses to the probe's requests.
  ///
  /// A server that refuses a request, or closes the connection at any time, isn't at fault. A response is attributed to a request by
  /// the marker or the status that only the marked request gets.
  func verdict(
    _ conversation: Conversation, expected: [DesyncProbe.Answer], _ baseline: DesyncBaseline
  ) -> FuzzVerdict {
    let responses = conversation.responses
    if case .unreachable(let reason) = conversation.ending { return .unreachable(reason) }
    let cause = place.map { ": the server took \($0) for a request" } ?? ""
    if responses.count > expected.count {
      return .fault(.desync, "\(responses.count) responses to \(expected.count) requests\(cause)")
    }
    for (index, (response, answer)) in zip(responses, expected).enumerated() {
      let what = "the \(index == 0 ? "first" : "second") request got the response (\(response.status)) to another one"
      switch answer {
      case .own where isMarked(response, baseline): return .fault(.desync, what + cause)
      case .own where isValid && response.status == 400 && baseline.ownStatus != 400:
        return .fault(.desync, "the second request got 400 instead of \(baseline.ownStatus)\(cause)")
      case .marked where baseline.isDistinct && response.status == baseline.ownStatus && !isMarked(response, baseline):
        return .fault(.desync, what)
      default: break
      }
    }
    if case .malformed(let reason) = conversation.ending { return .fault(.brokenReply, reason) }
    if conversation.ending == .open, responses.count < expected.count {
      guard isValid else { return .waits }
      return .fault(.hang, "\(responses.count) responses to \(expected.count) requests, and the connection stays open")
    }
    guard let first = responses.first else { return .closed }
    return .answered(status: first.status)
  }

  private func isMarked(_ response: ResponseSequence.Response, _ baseline: DesyncBaseline) -> Bool {
    if baseline.echoes, !showsMarker { return response.contains(marker) }
    return response.status == baseline.markedStatus
  }
}
