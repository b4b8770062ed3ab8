// The rows of the error table for background sessions, and for tasks that have waited for a network in vain.

import Foundation
import LupineEngine
import LupineTransferStore

@testable import Lupine
@testable import LupineURLSession

extension ErrorTable {
  static func backgroundErrors() -> [ErrorRow] {
    let (identifier, folder) = ("com.example.app", "/state/com.example.app")
    let url = URL(string: "https://example.org/file")
    let what = "Task 3 can't be recorded in \(folder)"
    let full = TransferStoreError.system(SystemError(call: "write", code: ENOSPC))
    let rows: [(String, URLError)] = [
      ("identifier in use", .backgroundSession(identifier, folder, .inUse)),
      (
        "folder of another user",
        .backgroundSession(identifier, folder, .system(SystemError(call: "open", code: EPERM)))
      ),
      ("folder", .backgroundSession(identifier, folder, .system(SystemError(call: "open", code: EMFILE)))),
      ("identifier", .unusableIdentifier("")), ("disk", .record(full, .cannotCreateFile, what)),
      ("request's size", .record(.tooLarge, .cannotCreateFile, what)),
      ("end", .record(.closed, .cannotCreateFile, what)),
      ("damaged record", .damagedRecord(3, in: folder)), ("answered upload", .answerLost(200, url: url)),
      ("resource timeout", .expired(604_800, url: url)),
    ]
    return backgroundRefusals() + rows.map { row("background, \($0.0)", $0.1) }
      + [row("waitsForConnectivity", .noNetworkInTime(url))]
  }

  private static func backgroundRefusals() -> [ErrorRow] {
    let rows = chain(from: BackgroundRefusal.uploadFromMemory) { refusal -> (name: String, next: BackgroundRefusal?) in
      switch refusal {
      case .uploadFromMemory: ("upload from memory", .uploadFromStream)
      case .uploadFromStream: ("upload from a stream", .completionHandler)
      case .completionHandler: ("completion handler", .bodyStream)
      case .bodyStream: ("body stream", .connectionSettings)
      case .connectionSettings: ("connection settings", .localURL)
      case .localURL: ("local URL", nil)
      }
    }
    return rows.map { row("background, \($0.name)", $0.example.error) }
  }
}
