// DiskStoreTests: the store in a folder, alone, with other processes and with damaged files.

import Dispatch
import Glibc
import LupineCache
import LupineReactor
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineCacheStore

@Suite struct DiskStoreTests {
  private let folder: StoreFolder
  private let store: DiskStore

  init() throws {
    folder = try StoreFolder()
    store = try DiskStore(folder: folder.path, capacity: 10_000_000)
  }

  /// Opens the cache folder a second time, as another process does.
  private func reopened(capacity: Int = 10_000_000) throws -> DiskStore {
    try DiskStore(folder: folder.path, capacity: capacity)
  }

  /// The space that the cache files take on a disk with blocks of 4,096 bytes, in bytes.
  private func occupied() throws -> Int {
    try folder.names.reduce(0) { $0 + (try folder.bytes($1).count + 4_095) / 4_096 * 4_096 }
  }

  @Test(
    "the disk cache returns a stored response unchanged, in the same process and in another process",
    arguments: [
      0, 1, 65_535, 65_536, 65_537, 200_000,
    ])
  func roundTrip(_ count: Int) throws {
    try store.store("u", .sample(), body(count), id: 1)
    for store in [store, try reopened()] {
      let found = store.contents(of: "u")
      #expect(found.count == 1)
      #expect(found.first?.response == StoredResponse.sample().withBody(byteCount: UInt64(count)))
      #expect(found.first?.body == body(count))
      #expect(store.contents(of: "v").isEmpty)
      #expect(store.byteCount == (try occupied()))
    }
  }

  @Test("the disk cache creates missing parent folders, and only the user can read the folder and its files")
  func permissions() throws {
    try store.store("u", .sample(), body(10), id: 1)
    #expect(folder.mode() == 0o700)
    #expect(folder.names.map { folder.mode($0) } == [0o600])
    let nested = try StoreFolder()
    _ = try DiskStore(folder: "\(nested.path)/a/b", capacity: 1)
    #expect(nested.mode("a") == 0o700 && nested.mode("a/b") == 0o700)
    rmdir("\(nested.path)/a/b")
    rmdir("\(nested.path)/a")
    #expect(throws: SystemError.self) { try DiskStore(folder: "/proc/none/cache", capacity: 1) }
  }

  @Test("the disk cache doesn't use a folder that other users can change")
  func foreignFolder() throws {
    for mode in [0o720, 0o702] as [mode_t] {
      try #require(chmod(folder.path, mode) == 0)
      #expect(throws: SystemError(call: "open \(folder.path)", code: EPERM)) { try reopened() }
    }
    try #require(chmod(folder.path, 0o755) == 0)
    _ = try reopened()
  }

  @Test("a new response replaces only the stored responses that it supersedes")
  func superseding() throws {
    try store.store("u", .sample("1"), body(10), id: 1)
    try store.store("u", .sample("2"), body(10), id: 2)
    try store.store("v", .sample("1"), body(10), id: 3)
    try store.store("u", .sample("1", version: 2), body(10, version: 2), id: 4)
    #expect(store.contents(of: "u").map(\.id) == [2, 4])
    #expect(store.contents(of: "v").map(\.id) == [3])
    #expect(folder.names.count == 3)
  }

  @Test("replacing a stored response's metadata doesn't change its body")
  func replacing() throws {
    try store.store("u", .sample(), body(100_000), id: 1)
    try store.replace(1, with: .sample(version: 2), newID: 2)
    let found = store.contents(of: "u")
    #expect(found.map(\.id) == [2])
    #expect(found.first?.response.fields.first("Version") == "2")
    #expect(found.first?.body == body(100_000))
    #expect(folder.names.count == 1)
  }

  @Test("replacing the metadata of a record whose file can't be opened fails, and keeps the record")
  func replacingUnopened() throws {
    try store.store("u", .sample(), body(10), id: 1)
    let path = "\(folder.path)/\(try #require(folder.names.first))"
    // Opening a FIFO fails.
    try #require(unlink(path) == 0)
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: DiskStoreError.self) { try store.replace(1, with: .sample(version: 2), newID: 2) }
    #expect(store.count == 1)
    store.remove(1)
    #expect(throws: Never.self) { try store.replace(1, with: .sample(version: 2), newID: 2) }
  }

  @Test("a cache writer that isn't committed leaves no file")
  func discarding() throws {
    do {
      let writer = try store.writer(uri: "u", response: .sample(), id: 1)
      let bytes = body(100_000)
      try writer.append(bytes.span)
      #expect(folder.names.count == 1)
      #expect(store.contents(of: "u").isEmpty)
      #expect(try reopened().contents(of: "u").isEmpty)
      withExtendedLifetime(writer) {}
    }
    #expect(folder.names.isEmpty)
    #expect(store.byteCount == 0)
  }

  @Test(
    "the disk cache keeps a file that another process is writing, and deletes the file after that process has ended")
  func abandonedFiles() throws {
    let writer = try store.writer(uri: "u", response: .sample(), id: 1)
    try folder.write(body(10), to: RecordName.temporary(2))
    _ = try reopened()
    #expect(folder.names == [RecordName.temporary(1)])
    let bytes = body(5)
    try writer.append(bytes.span)
    try writer.commit { _ in false }
    #expect(store.contents(of: "u").map(\.body) == [body(5)])
  }

  @Test(
    "the cache never serves a record with a changed byte: either it deletes the record, or reading the record's body fails"
  )
  func damage() throws {
    try store.store("u", .sample(), body(100), id: 1)
    let name = try #require(folder.names.first)
    let intact = try folder.bytes(name)
    for index in intact.indices {
      var bytes = intact
      bytes[index] ^= 0x40
      try folder.write(bytes, to: name)
      let store = try reopened()
      let found = store.contents(of: "u")
      if let first = found.first {
        #expect(first.body == nil, "byte \(index)")
      } else {
        #expect(!folder.names.contains(name), "byte \(index)")
      }
    }
  }

  @Test(
    "the disk cache deletes a record that is truncated or has extra bytes, even if its file name contains the new size")
  func truncation() throws {
    try store.store("u", .sample(), body(100), id: 1)
    let name = try #require(folder.names.first)
    let intact = try folder.bytes(name)
    store.remove(1)
    for bytes in intact.indices.map({ Array(intact.prefix($0)) }) + [intact + [0]] {
      let matching = RecordName(key: store.key(of: "u"), id: 1, byteCount: UInt64(bytes.count)).text
      for name in [name, matching] {
        try folder.write(bytes, to: name)
        #expect(try reopened().contents(of: "u").isEmpty)
        #expect(folder.names.isEmpty)
      }
    }
  }

  @Test("the disk cache deletes a record whose file has another record's name")
  func swapped() throws {
    try store.store("u", .sample(), body(100), id: 1)
    let bytes = try folder.bytes(try #require(folder.names.first))
    store.remove(1)
    let key = store.key(of: "v")
    let names = [
      RecordName(key: key, id: 1, byteCount: UInt64(bytes.count)),
      RecordName(key: store.key(of: "u"), id: 2, byteCount: UInt64(bytes.count)),
    ]
    for name in names { try folder.write(bytes, to: name.text) }
    let store = try reopened()
    #expect(store.contents(of: "u").isEmpty)
    #expect(store.contents(of: "v").isEmpty)
    #expect(folder.names.isEmpty)
  }

  @Test("the disk cache detects a block of a stored body that was copied to another position in the file")
  func swappedBlocks() throws {
    try store.store("u", .sample(), body(3 * RecordFormat.blockByteCount), id: 1)
    let name = try #require(folder.names.first)
    var bytes = try folder.bytes(name)
    let stride = RecordFormat.blockByteCount + RecordFormat.checksumByteCount
    let start = bytes.count - 3 * stride
    bytes.replaceSubrange(start..<start + stride, with: Array(bytes[(start + stride)..<(start + 2 * stride)]))
    try folder.write(bytes, to: name)
    #expect(try reopened().contents(of: "u").first?.body == nil)
  }

  @Test("the disk cache doesn't change files in its folder that aren't cache records")
  func foreignFiles() throws {
    try folder.write([1], to: "notes.txt")
    try folder.write([1], to: "x.lupine")
    let store = try reopened(capacity: 0)
    try store.removeAll()
    #expect(folder.names == ["notes.txt", "x.lupine"])
  }

  @Test("the disk cache deletes the least recently used records, so that its folder stays within its capacity")
  func eviction() throws {
    let store = try reopened(capacity: 50_000)
    for number in 1...20 {
      try store.store("\(number)", .sample(), body(10_000), id: UInt64(number))
      _ = store.open(1)
      let sum = try occupied()
      #expect(sum == store.byteCount && sum <= 50_000)
    }
    #expect(store.contents(of: "1").count == 1)
    #expect(store.contents(of: "2").isEmpty)
    #expect(store.contents(of: "20").count == 1)
    store.capacity = 15_000
    #expect(folder.names.count == 1)
  }

  @Test("a cache record smaller than a disk block counts as a whole block toward the capacity")
  func smallRecords() throws {
    let store = try reopened(capacity: 5 * 4_096)
    for id in 1...20 as ClosedRange<UInt64> { try store.store("\(id)", .sample(), body(10), id: id) }
    #expect(store.count == 5 && folder.names.count == 5 && store.byteCount == 5 * 4_096)
  }

  @Test("when a process opens a full cache folder, it deletes the least recently used records of earlier processes")
  func evictionOrderOnDisk() throws {
    for id in 1...3 as ClosedRange<UInt64> { try store.store("\(id)", .sample(), body(10_000), id: id) }
    for name in folder.names { folder.setTime(Int(RecordName(name)?.id ?? 0), of: name) }
    _ = store.open(1)
    let size = store.byteCount / 3
    let later = try reopened(capacity: size * 2)
    #expect(later.contents(of: "1").count == 1)
    #expect(later.contents(of: "2").isEmpty)
    #expect(later.contents(of: "3").count == 1)
  }

  @Test("writing a body that exceeds the disk cache's capacity fails before the complete body is written")
  func tooLarge() throws {
    let store = try reopened(capacity: 50_000)
    let writer = try store.writer(uri: "u", response: .sample(), id: 1)
    let bytes = body(30_000)
    try writer.append(bytes.span)
    #expect(throws: DiskStoreError.bodyTooLarge) { try writer.append(bytes.span) }
  }

  @Test(
    "processes that share a cache folder read each other's records, and exceed its capacity only slightly")
  func sharedFolder() throws {
    let capacity = 200_000
    let first = try reopened(capacity: capacity)
    let second = try reopened(capacity: capacity)
    for number in 0..<100 {
      let store = number % 2 == 0 ? first : second
      try store.store("\(number)", .sample(), body(5000, version: number), id: UInt64(number))
      let sum = try folder.names.reduce(0) { $0 + (try folder.bytes($1).count) }
      #expect(sum <= capacity + 2 * (capacity / 16 + 6000))
    }
    var served = 0
    for number in 0..<100 {
      for store in [first, second] {
        for found in store.contents(of: "\(number)") {
          served += 1
          #expect(found.body == body(5000, version: number))
        }
      }
    }
    // A record takes two blocks, so the index of each store contains up to 24 records.
    #expect(served > 30)
  }

  @Test("after concurrent writes, reads and deletions, the cache folder's files are exactly the records in the index")
  func threads() throws {
    let store = try reopened(capacity: 200_000)
    DispatchQueue.concurrentPerform(iterations: 100) { number in
      let uri = "\(number % 10)"
      _ = try? store.store(uri, .sample(version: number), body(8000, version: number), id: UInt64(number))
      for found in store.contents(of: uri) {
        let version = found.response.fields.first("Version").flatMap { Int($0) } ?? 0
        // A record that another thread has deleted can't be read.
        #expect(found.body == nil || found.body == body(8000, version: version))
      }
      if number % 7 == 0 { store.removeAll(for: uri) }
    }
    // Reading notices records that were deleted while they were being added.
    for number in 0..<10 { _ = store.contents(of: "\(number)") }
    let later = try reopened(capacity: 200_000)
    #expect(later.count == store.count && later.byteCount == store.byteCount)
    #expect(folder.names.count == store.count)
  }

  @Test(
    "the disk cache doesn't find a record that another process has deleted, but an open reader can still read the record"
  )
  func deletedElsewhere() throws {
    try store.store("u", .sample(), body(100), id: 1)
    guard let reader = store.open(1) else {
      Issue.record("the record isn't found")
      return
    }
    try reopened().remove(1)
    let block = try reader.block(0)
    #expect(block == body(100))
    let isGone = store.open(1) == nil
    #expect(isGone)
    #expect(store.byteCount == 0)
  }

  @Test("the disk cache can remove stored responses by URI, by a condition, or all at once")
  func removing() throws {
    try store.store("u", .sample("1"), body(10), id: 1)
    try store.store("u", .sample("2", partition: .session("s")), body(10), id: 2)
    try store.store("v", .sample("1", version: 7), body(10), id: 3)
    try store.store("w", .sample("1", version: 8), body(10), id: 4)
    store.removeAll(for: "u")
    #expect(store.contents(of: "u").isEmpty)
    store.removeAll { $0.fields.first("Version") == "7" }
    #expect(store.contents(of: "v").isEmpty)
    #expect(store.contents(of: "w").count == 1)
    // The records that another process has stored since the last scan are removed, too.
    try reopened().store("x", .sample("1", version: 9), body(10), id: 5)
    store.removeAll { $0.fields.first("Version") == "9" }
    #expect(folder.names.count == 1)
    try reopened().store("x", .sample(), body(10), id: 6)
    try store.removeAll()
    #expect(folder.names.isEmpty)
  }

  @Test(
    "when cached responses are removed, a record file that can't be read is also deleted, as it may contain one of them",
    arguments: ["all", "some", "any URI"])
  func unreadable(removal: String) throws {
    try store.store("u", .sample(), body(10), id: 1)
    let name = try #require(folder.names.first)
    let path = "\(folder.path)/\(name)"
    // Opening a FIFO fails, like opening a file on a disk with bad blocks.
    try #require(unlink(path) == 0)
    try #require(mkfifo(path, 0o600) == 0)
    #expect(store.contents(of: "u").isEmpty && folder.names.count == 1)
    switch removal {
    case "all": store.removeAll(for: "u")
    case "some": store.removeAll(for: "u") { _ in false }
    default: store.removeAll { _ in false }
    }
    #expect(folder.names.isEmpty && store.byteCount == 0)
  }
}
