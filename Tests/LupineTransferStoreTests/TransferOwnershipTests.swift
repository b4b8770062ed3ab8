// TransferOwnershipTests: after its store was closed or it was removed, a record changes no file.

import Testing

@testable import LupineTransferStore

@Suite struct TransferOwnershipTests {
  /// Calls that change a transfer record: all except `remove`.
  private static let changes: [@Sendable (TransferRecord) throws -> Void] = [
    { record in try record.mark { $0.stage = .answered } },
    { record in try record.describe { $0.taskDescription = "new" } },
    { record in try record.setAnswer(.sample) },
    { record in try record.removeAnswer() },
    { record in try record.removeBody() },
  ]

  /// Returns the content of all files in the folder by name.
  private func files(_ folder: StoreFolder) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in folder.names { files[name] = try folder.bytes(name) }
    return files
  }

  @Test("a removed transfer record can't be changed or written again")
  func removed() throws {
    let folder = StoreFolder()
    let store = try TransferStore(folder: folder.path)
    let record = try store.create(id: 1, .upload)
    try record.setAnswer(.sample)
    record.remove()
    #expect(folder.names == ["lock"])
    for change in Self.changes { #expect(throws: TransferStoreError.closed) { try change(record) } }
    #expect(folder.names == ["lock"])
    store.close()
  }

  @Test(
    "after another store has opened the folder, a closed transfer store's records can't change the folder's files"
  )
  func closed() throws {
    let folder = StoreFolder()
    let first = try TransferStore(folder: folder.path)
    let record = try first.create(id: 1, .upload)
    first.close()
    let second = try TransferStore(folder: folder.path)
    let owned = try #require(second.recovered.first)
    try owned.mark { $0.stage = .running }
    try owned.setAnswer(TransferAnswer(url: "http://b.test/", status: 200, fields: [], isDecoded: false))
    try folder.write([1, 2, 3], to: TransferFileName.body(1).text)
    let before = try files(folder)
    for change in Self.changes { #expect(throws: TransferStoreError.closed) { try change(record) } }
    record.remove()
    #expect(throws: TransferStoreError.closed) { try first.create(id: 1, .sample) }
    #expect(throws: TransferStoreError.closed) { try first.create(id: 2, .sample) }
    #expect(try files(folder) == before)
    second.close()
  }

  @Test("a transfer store that is closed while a record changes unlocks its folder only after the change")
  func closedDuringChange() throws {
    let folder = StoreFolder()
    let store = try TransferStore(folder: folder.path)
    let record = try store.create(id: 1, .upload)
    var isInUse = false
    try record.describe { description in
      store.close()
      isInUse = (try? TransferStore(folder: folder.path)) == nil
      description.taskDescription = "last"
    }
    #expect(isInUse)
    #expect(throws: TransferStoreError.closed) { try record.describe { $0.taskDescription = "late" } }
    let later = try TransferStore(folder: folder.path)
    #expect(later.recovered.map(\.description.taskDescription) == ["last"])
    later.close()
  }
}
