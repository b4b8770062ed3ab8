// Records: a folder for the tests' stores, and responses to store in it.

import Glibc
import LupineCache
import LupineReactor
import LupineTestSupport
import LupineWire

@testable import LupineCacheStore

/// A temporary folder for a cache store. Its deallocation deletes the folder with its files.
final class StoreFolder: Sendable {
  let path: String
  private let folder: Folder

  init() throws {
    var random = SystemRandomNumberGenerator()
    path = "/tmp/lupine-cache-test-\(random.next())"
    folder = try Folder(creating: path)
  }

  deinit {
    for name in names + [FolderKey.fileName] { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  /// The names of the folder's files, without that of its key.
  var names: [String] { ((try? folder.names()) ?? []).filter { $0 != FolderKey.fileName }.sorted() }

  /// Returns the permissions of a file in the folder, or of the folder itself.
  func mode(_ name: String = ".") -> mode_t {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
  }

  func bytes(_ name: String) throws -> [UInt8] {
    let file = try File(reading: "\(path)/\(name)")
    var bytes: [UInt8] = []
    let count = Int(try file.byteCount())
    while bytes.count < count, try file.read(count - bytes.count, at: UInt64(bytes.count), into: &bytes) > 0 {}
    return bytes
  }

  /// Sets the time of a file's last modification, in seconds since 1970.
  func setTime(_ seconds: Int, of name: String) {
    let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2)
    utimensat(AT_FDCWD, "\(path)/\(name)", times, 0)
  }

  /// Replaces the file with this name by one with the given content.
  func write(_ bytes: [UInt8], to name: String) throws {
    unlink("\(path)/\(name)")
    let file = try WritableFile(creating: "\(path)/\(name)")
    try file.write(bytes.span, at: 0)
  }
}

extension StoredResponse {
  /// Returns a response with `Vary: Foo` to a request whose field Foo has the value `foo`.
  static func sample(
    _ foo: String = "1", version: Int = 1, partition: CachePartition = .anonymous, state: State = .valid
  ) -> StoredResponse {
    var fields: Fields = ["Cache-Control": "max-age=60", "Vary": "Foo", "Version": "\(version)"]
    fields.append(name: "Bytes", valueBytes: [0xE4, 0x80])
    return StoredResponse(
      status: 200, fields: fields, times: ExchangeTimes(request: 1_700_000_000, response: 1_700_000_001),
      partition: partition, selectingFields: SelectingFields([.init(name: "foo", value: Array(foo.utf8))]),
      state: state)
  }
}

/// Returns a response body in which each byte depends on its position and on the version.
func body(_ count: Int, version: Int = 1) -> [UInt8] { SequenceBytes.bytes(from: version, count: count) }

extension DiskStore {
  /// Stores a response, which replaces the stored responses for the same URI whose requests had the same value of the field Foo.
  @discardableResult
  func store(_ uri: String, _ response: StoredResponse, _ body: [UInt8], id: UInt64) throws -> UInt64 {
    let writer = try writer(uri: uri, response: response, id: id)
    for start in stride(from: 0, to: body.count, by: 10_000) {
      let piece = Array(body[start..<min(body.count, start + 10_000)])
      try writer.append(piece.span)
    }
    try writer.commit { $0.selectingFields == response.selectingFields }
    return id
  }

  /// Returns the responses that are stored for a URI, with their bodies. A body that can't be read is nil.
  func contents(of uri: String) -> [(id: UInt64, response: StoredResponse, body: [UInt8]?)] {
    var contents: [(id: UInt64, response: StoredResponse, body: [UInt8]?)] = []
    forEachRecord(of: uri) { reader in
      var body: [UInt8]? = []
      for number in 0..<reader.blockCount {
        if let block = try? reader.block(number) { body?.append(contentsOf: block) } else { body = nil }
      }
      contents.append((reader.id, reader.response, body))
    }
    return contents
  }
}
