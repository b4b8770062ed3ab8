// Folder: a temporary folder for the files of a test.

import Foundation
import Glibc

/// A temporary folder for a test's files. Its deallocation deletes the folder with its content.
final class Folder {
  let path: String

  init() throws {
    path = "/tmp/lupine-command-" + UUID().uuidString
    guard mkdir(path, 0o700) == 0 else { throw CallFailed(call: "mkdir", code: errno) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes `content` to a file with this name in the folder, and returns the file's path.
  func write(_ name: String, _ content: String) throws -> String {
    let file = path + "/" + name
    guard let stream = fopen(file, "w") else { throw CallFailed(call: "fopen", code: errno) }
    defer { fclose(stream) }
    let bytes = Array(content.utf8)
    guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else { throw CallFailed(call: "fwrite", code: errno) }
    return file
  }

  func read(_ name: String) throws -> String {
    guard let stream = fopen(path + "/" + name, "r") else { throw CallFailed(call: "fopen", code: errno) }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  func has(_ name: String) -> Bool { access(path + "/" + name, F_OK) == 0 }
}

private struct CallFailed: Error {
  let call: String
  let code: CInt
}
