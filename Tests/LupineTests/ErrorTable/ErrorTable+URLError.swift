// The rows of the error table for the URLErrors without an EngineError: local URLs, download files, authentication, the
// engine's start and, in ErrorTable+Background.swift, background sessions.

import Foundation
import LupineEngine

@testable import Lupine
@testable import LupineURLSession

extension ErrorTable {
  static func urlErrors() -> [ErrorRow] {
    let start = URLError(SystemError(call: "epoll_create1", code: EMFILE))
    let proof = URLError(untrustedResponseFrom: URL(string: "http://server.example/"))
    let missing = URLError(missing: URL(filePath: "/folder/file"), CocoaError(.fileReadNoSuchFile))
    let limit = CollectedBodyLimit(bytesMax: 1_000_000)
    return [
      row("the engine's start", start), row("authentication", proof), row("upload", missing),
      row("bodyBytesMax", limit.excess(at: URL(string: "https://example.org/"))),
    ] + fileErrors() + dataErrors()
      + downloadErrors() + backgroundErrors()
  }

  static func row(_ name: String, _ error: URLError) -> ErrorRow {
    ErrorRow(name: "URLError (\(name))", code: error.code, message: error.localizedDescription)
  }

  private static func fileErrors() -> [ErrorRow] {
    let codes = [
      (ENOENT, "ENOENT"), (EISDIR, "EISDIR"), (EACCES, "EACCES"), (ENXIO, "ENXIO"), (EMFILE, "EMFILE"), (EIO, "EIO"),
    ]
    return codes.map { code, name in
      row("file:, \(name)", URLError(opening: URL(filePath: "/folder/file"), SystemError(call: "open", code: code)))
    }
  }

  private static func dataErrors() -> [ErrorRow] {
    let rows = chain(from: DataURLError.otherScheme) { error -> (name: String, next: DataURLError?) in
      switch error {
      case .otherScheme: ("scheme", .missingComma)
      case .missingComma: ("comma", .malformedMediaType)
      case .malformedMediaType: ("media type", .malformedEscape(at: 12))
      case .malformedEscape: ("escape", .malformedBase64)
      case .malformedBase64: ("base64", nil)
      }
    }
    return rows.map { ErrorRow(name: "URLError (data:, \($0.name))", code: .badURL, message: $0.example.description) }
  }

  private static func downloadErrors() -> [ErrorRow] {
    let failures: [(URLError.Code, DownloadFileFailure.Action, Int32, String)] = [
      (.cannotCreateFile, .created, EACCES, "EACCES"), (.cannotOpenFile, .opened, EMFILE, "EMFILE"),
      (.cannotWriteToFile, .written, ENOSPC, "ENOSPC"), (.cannotWriteToFile, .written, EFBIG, "EFBIG"),
      (.cannotWriteToFile, .written, EIO, "EIO"),
    ]
    return failures.map { code, action, number, name in
      let received: (count: UInt64, total: UInt64?)? = action == .written ? (1_000_000, 5_000_000) : nil
      let failure = DownloadFileFailure(
        action: action, path: "/tmp/download", error: SystemError(call: "write", code: number), received: received)
      return row("download, \(name)", URLError(code, failure, url: nil))
    }
  }
}
