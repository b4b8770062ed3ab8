// A folder for records, and descriptions of tasks to record.

import Foundation
import LupineReactor

@testable import LupineTransferStore

/// A temporary folder for transfer records. Its deallocation deletes the folder with its files.
final class StoreFolder: Sendable {
  let path: String

  init() {
    var random = SystemRandomNumberGenerator()
    path = "/tmp/lupine-transfer-test-\(random.next())"
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func mode(_ name: String = ".") -> mode_t {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
  }

  func bytes(_ name: String) throws -> [UInt8] {
    try File.content(of: "\(path)/\(name)", byteCountMax: 1 << 24) ?? []
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try? File.remove("\(path)/\(name)")
    let file = try WritableFile(creating: "\(path)/\(name)")
    try file.write(bytes.span, at: 0)
    try file.close()
  }
}

extension TransferDescription {
  static var sample: TransferDescription {
    var sample = TransferDescription(
      kind: .download, url: "http://a.test/ä", method: "POST",
      fields: [RecordedField(name: "A", value: [0x62, 0xFF]), RecordedField(name: "a", value: [])])
    sample.omittedNames = ["Authorization", "Cookie"]
    sample.body = [1, 2, 3]
    sample.timeout = 2.5
    sample.cachePolicy = 4
    sample.handlesCookies = false
    sample.mainDocument = "http://b.test/"
    sample.taskDescription = ""
    sample.earliestStart = 1e9
    sample.options.allowsCellularAccess = false
    sample.options.usesPipelining = true
    sample.options.networkServiceType = 3
    sample.options.bodyBytesMax = .max
    sample.options.priority = 0.25
    sample.options.timeLimits = [nil, 1, .max]
    return sample
  }

  static var upload: TransferDescription {
    TransferDescription(kind: .upload(path: "/tmp/ü"), url: "http://a.test/", method: "PUT", fields: [])
  }
}

extension TransferAnswer {
  static var sample: TransferAnswer {
    TransferAnswer(
      url: "http://a.test/", status: 206, fields: [RecordedField(name: "ETag", value: [0x22, 0x22])], isDecoded: true)
  }
}
