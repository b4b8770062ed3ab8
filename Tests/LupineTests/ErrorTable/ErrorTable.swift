// ErrorTable: the messages of all public errors, as the rows of the table in Errors.md.

import Foundation
import LupineEngine

@testable import Lupine
@testable import LupineURLSession

/// A row of the table: an error, and its message with example values.
struct ErrorRow {
  /// The error's type and case, such as "WireError.chunkSizeOverflow".
  let name: String
  /// The code of the `URLError` in which a session wraps the error, or nil if it doesn't.
  var code: URLError.Code?
  let message: String

  /// The message split before its last sentence. That sentence is the remedy, or nil if the message has only one sentence.
  private var sentences: (event: Substring, remedy: Substring?) {
    var rest = message[...]
    while let end = rest.range(of: ". ", options: .backwards) {
      if message[end.upperBound...].first?.isUppercase == true {
        return (message[..<message.index(after: end.lowerBound)], message[end.upperBound...])
      }
      rest = rest[..<end.lowerBound]
    }
    return (message[...], nil)
  }

  /// The row in Markdown.
  var markdown: String {
    let (event, remedy) = sentences
    let code = code.map { "`\(Self.codeNames[$0] ?? "\($0.rawValue)")`" } ?? ""
    return "| `\(name)` | \(code) | \(Self.escaped(event)) | \(remedy.map(Self.escaped) ?? "") |"
  }

  private static func escaped(_ text: Substring) -> String {
    text.reduce(into: "") { escaped, character in
      if "|`*_<>~\\".contains(character) { escaped.append("\\") }
      escaped.append(character)
    }
  }

  /// The names of the codes, because `URLError.Code` doesn't provide them.
  static let codeNames: [URLError.Code: String] = [
    .backgroundSessionInUseByAnotherProcess: "backgroundSessionInUseByAnotherProcess",
    .badServerResponse: "badServerResponse",
    .badURL: "badURL",
    .cancelled: "cancelled",
    .cannotConnectToHost: "cannotConnectToHost",
    .cannotDecodeContentData: "cannotDecodeContentData",
    .cannotFindHost: "cannotFindHost",
    .cannotLoadFromNetwork: "cannotLoadFromNetwork",
    .cannotCreateFile: "cannotCreateFile",
    .cannotOpenFile: "cannotOpenFile",
    .cannotWriteToFile: "cannotWriteToFile",
    .dataLengthExceedsMaximum: "dataLengthExceedsMaximum",
    .dnsLookupFailed: "dnsLookupFailed",
    .fileDoesNotExist: "fileDoesNotExist",
    .fileIsDirectory: "fileIsDirectory",
    .httpTooManyRedirects: "httpTooManyRedirects",
    .networkConnectionLost: "networkConnectionLost",
    .noPermissionsToReadFile: "noPermissionsToReadFile",
    .redirectToNonExistentLocation: "redirectToNonExistentLocation",
    .notConnectedToInternet: "notConnectedToInternet",
    .requestBodyStreamExhausted: "requestBodyStreamExhausted",
    .resourceUnavailable: "resourceUnavailable",
    .secureConnectionFailed: "secureConnectionFailed",
    .serverCertificateHasBadDate: "serverCertificateHasBadDate",
    .serverCertificateHasUnknownRoot: "serverCertificateHasUnknownRoot",
    .serverCertificateNotYetValid: "serverCertificateNotYetValid",
    .serverCertificateUntrusted: "serverCertificateUntrusted",
    .timedOut: "timedOut",
    .unsupportedURL: "unsupportedURL",
  ]
}

/// The table of all errors, and its place in the article.
enum ErrorTable {
  /// The marker before the table, and the one after it.
  static let markers = ("<!-- The table of errors, written by `make tables` -->", "<!-- End of the table of errors -->")

  static func rows() throws -> [ErrorRow] {
    try aferrors() + parameterErrors() + featureErrors() + urlErrors() + engineErrors() + proxyErrors() + wireErrors()
      + uriErrors()
      + tlsErrors() + codingErrors()
  }

  static func markdown() throws -> String {
    let head = "| Error | `URLError.Code` | Message, with example values | What to do |\n| --- | --- | --- | --- |\n"
    return try head + rows().map { $0.markdown + "\n" }.joined()
  }

  /// Returns one example for each case of a type, beginning with `first`.
  ///
  /// `step` returns the name of an example's case, and the example of the next case. It should be a switch without a
  /// default, so that the tests don't compile if a case has no example.
  static func chain<Example>(
    from first: Example, _ step: (Example) throws -> (name: String, next: Example?)
  ) rethrows -> [(name: String, example: Example)] {
    var rows: [(name: String, example: Example)] = []
    var example: Example? = first
    while let current = example {
      let (name, next) = try step(current)
      rows.append((name, current))
      example = next
    }
    return rows
  }
}

/// The error that the examples wrap.
struct ExampleCause: LocalizedError {
  var errorDescription: String? { "The underlying error." }
}
