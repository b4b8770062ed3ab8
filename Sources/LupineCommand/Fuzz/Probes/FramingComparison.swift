// FramingComparison: compares how two servers frame the same bytes, without I/O.

/// How a server divided the bytes of a connection into requests, as far as its responses show it. The bytes end with a valid request
/// that asks the server to close the connection.
struct Framing: Equatable {
  enum Ending: String {
    case closed = "closed the connection"
    case open = "kept the connection open"
    case malformed = "sent an invalid response"
  }

  /// The first digit of the status of each response.
  var statusClasses: [Int]
  var ending: Ending
  /// The number of bytes after the last complete response.
  var leftByteCount = 0

  /// Returns nil if the connection couldn't be opened.
  init?(_ conversation: Conversation) {
    statusClasses = conversation.responses.map { $0.status / 100 }
    leftByteCount = conversation.leftByteCount
    switch conversation.ending {
    case .closed: ending = .closed
    case .open: ending = .open
    case .malformed: ending = .malformed
    case .unreachable: return nil
    }
  }

  init(statusClasses: [Int], ending: Ending, leftByteCount: Int = 0) {
    (self.statusClasses, self.ending, self.leftByteCount) = (statusClasses, ending, leftByteCount)
  }

  /// Compares the responses of two servers to the same bytes.
  static func compare(_ first: Conversation, _ second: Conversation) -> FuzzVerdict {
    for case .unreachable(let reason) in [first.ending, second.ending] { return .unreachable(reason) }
    guard let mine = Framing(first), let theirs = Framing(second) else { return .closed }
    let differences = mine.differences(from: theirs)
    guard differences.isEmpty else { return .fault(.framing, differences.joined(separator: "; ")) }
    guard let response = first.responses.first else { return mine.ending == .open ? .waits : .closed }
    return .answered(status: response.status)
  }

  /// Describes how this server and another one differ. Empty if they don't.
  func differences(from other: Framing) -> [String] {
    var texts: [String] = []
    if statusClasses.count != other.statusClasses.count {
      texts.append("\(statusClasses.count.counted("response")) and \(other.statusClasses.count)")
    }
    for (index, (mine, theirs)) in zip(statusClasses, other.statusClasses).enumerated() where mine != theirs {
      texts.append("response \(index + 1) is \(mine)xx and \(theirs)xx")
    }
    if ending != other.ending {
      texts.append("the first server \(ending.rawValue), the second \(other.ending.rawValue)")
    }
    // The number itself depends on the content of the responses.
    if (leftByteCount > 0) != (other.leftByteCount > 0) {
      texts.append("\(leftByteCount.counted("byte")) and \(other.leftByteCount) after the last response")
    }
    return texts
  }
}

extension Int {
  /// The number with a noun, in the plural unless the number is 1.
  fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
