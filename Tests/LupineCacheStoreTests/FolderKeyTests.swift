// FolderKeyTests: the secret key of a cache folder, by which files are named.

import Dispatch
import Glibc
import LupineCache
import LupineReactor
import LupineTestSupport
import LupineWire
import Synchronization
import Testing

@testable import LupineCacheStore

@Suite struct FolderKeyTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func open() throws -> DiskStore { try DiskStore(folder: folder.path, capacity: 10_000_000) }

  /// Two URLs of different origins with the same XXH64 checksum.
  private static let (victim, attacker) = ("http://victim.test/login", "http://e.t/aabGJoTxxfs@s")

  @Test("SipHash has the results of its authors' test vectors")
  func vectors() {
    let hash = SipHash(0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
    let expected: [(Int, UInt64)] = [
      (0, 0x726F_DB47_DD0E_0E31), (1, 0x74F8_39C5_93DC_67FD), (15, 0xA129_CA61_49BE_45E5),
    ]
    for (count, value) in expected { #expect(hash.of(0..<UInt8(count)) == value) }
  }

  @Test("the hash of a URL's parts equals the hash of its text")
  func parts() throws {
    let hash = SipHash(1, 2)
    for text in [
      "http://a.test/", "https://a.test:8443/long/path?query=1", "http://[::1]/a", "https://[::1]:1/",
      "http+unix://%2Frun%2Fa.sock/v1",
    ] {
      let key = try URI(text).cacheKey
      #expect(key.text == text)
      #expect(hash.ofTexts(key.forEachPart) == hash.of(text.utf8))
    }
  }

  @Test(
    "an origin can't remove the responses for another origin's URL by a URL with the same checksum, or by its variants")
  func collisions() throws {
    #expect(Checksum.of(Array(Self.victim.utf8).span) == Checksum.of(Array(Self.attacker.utf8).span))
    let store = try open()
    try store.store(Self.victim, .sample(), body(10), id: 1)
    store.removeAll(for: Self.attacker)
    #expect(store.contents(of: Self.victim).count == 1)
    for number in 0...40 { try store.store(Self.attacker, .sample("\(number)"), body(10), id: UInt64(number) + 2) }
    #expect(store.contents(of: Self.attacker).count == 32)
    #expect(store.contents(of: Self.victim).count == 1)
    #expect(!store.mayHaveRecords(of: try URI("http://victim.test/").cacheKey))
    #expect(store.mayHaveRecords(of: try URI(Self.victim).cacheKey))
  }

  @Test("each cache folder has a random key, which only the user can read and all processes share")
  func sharing() throws {
    let stores = Mutex<[DiskStore]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      if let store = try? open() { stores.withLock { $0.append(store) } }
    }
    let keys = stores.withLock { $0.map { $0.key(of: "u") } }
    #expect(keys.count == 16 && Set(keys).count == 1)
    #expect(folder.mode(FolderKey.fileName) == 0o600 && folder.names.isEmpty)
    let other = try StoreFolder()
    #expect(try DiskStore(folder: other.path, capacity: 1).key(of: "u") != keys.first)
  }

  @Test(
    "a folder without a usable key gets a new one, and its records, which no process could find, are removed",
    arguments: [nil, [], [UInt8](repeating: 1, count: 15), [UInt8](repeating: 1, count: 17)] as [[UInt8]?])
  func lostKey(_ content: [UInt8]?) throws {
    try open().store("u", .sample(), body(10), id: 1)
    try folder.write([1], to: "notes.txt")
    try #require(unlink("\(folder.path)/\(FolderKey.fileName)") == 0)
    if let content { try folder.write(content, to: FolderKey.fileName) }
    let store = try open()
    #expect(folder.names == ["notes.txt"] && store.count == 0)
    try store.store("u", .sample(), body(10), id: 2)
    #expect(try open().contents(of: "u").map(\.id) == [2])
  }

  @Test("a cache folder whose key can't be read isn't used, and its records stay")
  func unreadableKey() throws {
    try open().store("u", .sample(), body(10), id: 1)
    let path = "\(folder.path)/\(FolderKey.fileName)"
    try #require(rename(path, path + "-kept") == 0)
    try #require(symlink(path + "-kept", path) == 0)
    #expect(throws: (any Error).self) { try open() }
    try #require(rename(path + "-kept", path) == 0)
    #expect(try open().contents(of: "u").count == 1)
  }

  @Test("after a cache folder has been replaced by a link, its store uses the opened folder only")
  func replacedFolder() throws {
    let (outer, other) = (try StoreFolder(), try StoreFolder())
    let path = "\(outer.path)/cache"
    let store = try DiskStore(folder: path, capacity: 10_000_000)
    try store.store("u", .sample(), body(10), id: 1)
    let name = try #require(store.contents(of: "u").first).id
    let moved = "\(outer.path)/moved"
    defer { for file in [FolderKey.fileName] { unlink("\(moved)/\(file)") } }
    try #require(rename(path, moved) == 0)
    try #require(symlink(other.path, path) == 0)
    try other.write(body(10), to: RecordName.temporary(7))
    try store.store("v", .sample(), body(10), id: 2)
    #expect(store.contents(of: "v").count == 1 && store.contents(of: "u").map(\.id) == [name])
    try store.removeAll()
    // A scan of the other folder would remove this file, which looks like that of a writer that has ended.
    #expect(other.names == [RecordName.temporary(7)])
    #expect(store.count == 0)
    unlink("\(moved)/\(FolderKey.fileName)")
    #expect(rmdir(moved) == 0)
    unlink(path)
  }
}
