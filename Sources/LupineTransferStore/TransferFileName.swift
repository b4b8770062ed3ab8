// TransferFileName: the names of the files in a session's folder.
//
//   0000000000000001.task                                        the record of task 1
//   0000000000000001.answer                                      the head of its response
//   lupine-download-00000000000000000000000000000001.tmp         the body of its response
//   new-0000000000000001.task, new-0000000000000001.answer       a file that is being written
//   lock                                                         the lock of the process that owns the session

/// The name of a file that stores a part of a background task.
package enum TransferFileName: Hashable, Sendable {
  case record(UInt64)
  case answer(UInt64)
  case body(UInt64)
  /// The temporary name of a file that is being written.
  case temporary(String)

  package static let lock = "lock"

  /// The maximum id of a background task: 2^53. Without this limit, a file whose name contains a greater id could make the ids of
  /// later tasks overflow.
  package static let idMax: UInt64 = 1 << 53

  private static let temporaryPrefix = "new-"
  private static let recordSuffix = ".task"
  private static let answerSuffix = ".answer"
  // The file's name has the form that all downloads' files have, so that resume data can refer to it.
  private static let bodyPrefix = "lupine-download-"
  private static let bodySuffix = ".tmp"
  private static let bodyDigitCount = 32
  private static let digitCount = 16

  package var text: String {
    switch self {
    case .record(let id): Self.padded(id, Self.digitCount) + Self.recordSuffix
    case .answer(let id): Self.padded(id, Self.digitCount) + Self.answerSuffix
    case .body(let id): Self.bodyPrefix + Self.padded(id, Self.bodyDigitCount) + Self.bodySuffix
    case .temporary(let name): Self.temporaryPrefix + name
    }
  }

  /// The id of the background task, or nil for a file that is being written.
  private var id: UInt64? {
    switch self {
    case .record(let id), .answer(let id), .body(let id): id
    case .temporary: nil
    }
  }

  /// Parses the name of a file. Returns nil for the lock file, and for files that don't belong to the store.
  package init?(_ text: String) {
    func id(_ prefix: String, _ suffix: String) -> UInt64? {
      guard text.hasPrefix(prefix), text.hasSuffix(suffix), text.utf8.count >= prefix.utf8.count + suffix.utf8.count
      else { return nil }
      return UInt64(text.dropFirst(prefix.count).dropLast(suffix.count), radix: 16)
    }
    if text.hasPrefix(Self.temporaryPrefix) {
      let name = String(text.dropFirst(Self.temporaryPrefix.count))
      switch TransferFileName(name) {
      case .record, .answer: self = .temporary(name)
      case .body, .temporary, nil: return nil
      }
      return
    }
    if let id = id("", Self.recordSuffix) {
      self = .record(id)
    } else if let id = id("", Self.answerSuffix) {
      self = .answer(id)
    } else if let id = id(Self.bodyPrefix, Self.bodySuffix) {
      self = .body(id)
    } else {
      return nil
    }
    // A file has only one valid name: without uppercase letters and signs, and with the exact number of digits.
    guard self.text == text, self.id.map({ $0 <= Self.idMax }) ?? true else { return nil }
  }

  private static func padded(_ number: UInt64, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: count - digits.utf8.count) + digits
  }
}
