// Corpus: the requests of --corpus, from which mutated requests are made.

import LupineEngine

/// A request of the corpus.
struct CorpusRequest {
  /// The name of its file.
  let name: String
  let bytes: [UInt8]
  /// The request's parts, or nil if the bytes can't be divided into them. Then only the bytes are mutated.
  let shape: RequestShape?

  init(name: String, bytes: [UInt8]) {
    (self.name, self.bytes) = (name, bytes)
    shape = RequestShape(parsing: bytes)
  }
}

enum Corpus {
  /// The maximum number of files in the folder of --corpus: 1,000.
  static let filesMax = 1_000

  /// Reads the files of a folder, in the order of their names. Hidden files, and the files other than requests that `--save` writes,
  /// are left out.
  static func read(_ path: String) throws(CommandError) -> [CorpusRequest] {
    let all: [String]
    do {
      all = try Folder.names(at: path)
    } catch {
      throw CommandError(.unreadableInput, "\(path) can't be read (\(error)). Check the folder.")
    }
    let names = all.filter { !$0.hasPrefix(".") && !$0.hasSuffix(".json") && !$0.hasSuffix(".response") }
    guard (1...filesMax).contains(names.count) else {
      throw CommandError(.unreadableInput, "\(path) has \(names.count) requests. It must have 1 to \(filesMax).")
    }
    var requests: [CorpusRequest] = []
    for name in names.sorted() {
      requests.append(CorpusRequest(name: name, bytes: try FindingFolder.request("\(path)/\(name)")))
    }
    return requests
  }
}

extension RequestShape {
  /// Divides the bytes of a request into its parts. Returns nil if the parts don't have the same bytes.
  init?(parsing bytes: [UInt8]) {
    let end = Array("\r\n\r\n".utf8)
    guard let index = bytes.firstRange(of: end)?.lowerBound else { return nil }
    let head = String(String.UnicodeScalarView(bytes[..<index].map { Unicode.Scalar($0) }))
    var rows = head.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { row in
      String(row.last == "\r" ? row.dropLast() : row)
    }
    let words = rows.removeFirst().unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).map {
      String($0)
    }
    guard words.count == 3 else { return nil }
    var lines: [Line] = []
    for row in rows {
      let scalars = row.unicodeScalars
      guard let colon = scalars.firstIndex(of: ":") else { return nil }
      let value = scalars[scalars.index(after: colon)...]
      let separator = value.first == " " ? ": " : ":"
      lines.append(
        Line(
          name: String(scalars[..<colon]), separator: separator,
          value: String(value.dropFirst(separator.unicodeScalars.count - 1))))
    }
    self.init(
      method: words[0], target: words[1], version: words[2], lines: lines, body: Array(bytes[(index + end.count)...]))
    guard self.bytes == bytes else { return nil }
  }
}
