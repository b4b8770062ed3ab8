// ErrorTable: the messages of all public errors, as the rows of the table in Errors.md.

import Foundation
import LupineEngine

@testable import Lupine
@testable import LupineURLSession

/// A row of the error table in Errors.md: an error, and its message with example values.
struct ErrorRow {
  /// The type and the case of the row's error, such as "WireError.chunkSizeOverflow".
  let name: String
  /// The code of the `URLError` with which a session wraps the row's error, or nil if sessions don't wrap the error.
  var code: URLError.Code?
  let message: String

  /// The error's message, split into the event and the remedy. The remedy is the last of several sentences, or nil if the
  /// message has only one sentence.
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

  /// The Markdown text of the row in Errors.md.
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

  /// The name of each URLError code in the table. `URLError.Code` itself provides only numbers.
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

/// The table of all public errors, which `make tables` writes into Errors.md.
enum ErrorTable {
  /// The Markdown comments in Errors.md before and after the error table.
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

  /// Returns one example for each case of an enum, beginning with `first`.
  ///
  /// For an example, `step` returns the name of its case, and the example of the next case. `step` should be a switch without
  /// a default, so that the tests don't compile if a case has no example.
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

/// The underlying error of an example in the error table, with a realistic description.
struct ExampleCause: LocalizedError {
  let errorDescription: String?

  init(_ description: String) { errorDescription = description }
}
