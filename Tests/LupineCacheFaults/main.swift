// LupineCacheFaults: stores, combines and reads responses in a folder while the n-th system call fails, for every n and in each
// way, and checks that each record is complete or absent. With the argument "removal", removes responses by a condition
// while a record's file can't be opened, and checks which errors cause the removal of the record.

import CLupineFaults
import Glibc
import LupineCache
import LupineCacheStore
import LupineReactor
import LupineWire

guard CommandLine.arguments.count == 2 || CommandLine.arguments.dropFirst(2) == ["removal"] else {
  fatalError("usage: LupineCacheFaults FOLDER [removal]")
}
let folder = CommandLine.arguments[1]
guard lupine_faults_begin(folder) else { fatalError("OpenSSL has already allocated memory") }

/// An error that reports which promise of the cache was broken.
struct Problem: Error { let text: String }

/// The response bodies of versions 0, 1 and 2. Each has two blocks, whose bytes depend on the version.
let bodies = (0...2).map { version in
  (0..<RecordFormat.blockByteCount + 500).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ version) }
}

func response(_ version: Int) -> StoredResponse {
  StoredResponse(
    status: 200, fields: ["Version": "\(version)", "Body": "\(version)"], times: ExchangeTimes(request: 0, response: 0),
    partition: .anonymous, selectingFields: SelectingFields([]))
}

/// Compares bytes with memcmp, because comparing them as collections took a third of this program's time, without optimization.
func areEqual(_ bytes: [UInt8], _ expected: ArraySlice<UInt8>) -> Bool {
  guard bytes.count == expected.count else { return false }
  // SAFETY: both buffers have this number of bytes, and are only used inside the closures.
  return bytes.withUnsafeBytes { first in
    expected.withUnsafeBytes { second in
      // An empty buffer may have no address.
      guard let found = first.baseAddress, let wanted = second.baseAddress else { return true }
      return memcmp(found, wanted, first.count) == 0
    }
  }
}

func store(_ version: Int, in store: DiskStore) throws(DiskStoreError) {
  let writer = try store.writer(uri: "u", response: response(version), id: .random(in: .min ... .max))
  let bytes = bodies[version]
  try writer.append(bytes.span)
  try writer.commit { _ in true }
}

/// Reads all records of the store, and returns the versions of those that could be read completely.
///
/// Throws if a block has wrong bytes. A block that can't be read is no problem, because system calls are failing.
func read(_ store: DiskStore) throws -> [Int] {
  var ids: [UInt64] = []
  store.forEachRecord(of: "u") { ids.append($0.id) }
  var versions: [Int] = []
  for id in ids {
    guard let reader = store.open(id), let version = reader.response.fields.first("Body").flatMap({ Int($0) }) else {
      continue
    }
    let expected = bodies[version]
    var isComplete = true
    for number in 0..<reader.blockCount {
      guard let block = try? reader.block(number) else {
        isComplete = false
        continue
      }
      let start = Int(number) * RecordFormat.blockByteCount
      guard areEqual(block, expected[start..<start + block.count]) else { throw Problem(text: "a wrong block") }
    }
    if isComplete { versions.append(version) }
  }
  return versions
}

/// A representation of which parts are stored under the URI "p". It is short, because each
/// failing call needs several combinations, but long enough for bytes that depend on their positions.
let whole = (0..<3_000).map { UInt8(truncatingIfNeeded: ($0 >> 8) ^ $0) }

/// Stores a part of the representation, together with the stored parts that adjoin it.
func store(_ range: Range<Int>, in store: DiskStore) throws {
  let part = StoredResponse(
    status: 206,
    fields: [
      "ETag": "\"1\"", "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(whole.count)",
    ], times: ExchangeTimes(request: 0, response: 0), partition: .anonymous, selectingFields: SelectingFields([])
  ).withAnnouncedBody
  let record = store.record(of: part, uri: "p")
  let writer = try record.begin(in: store, uri: "p", id: .random(in: .min ... .max))
  try writer.append(whole.span.extracting(range))
  let request = CacheRequest(uri: try URI("http://a.test/"))
  try record.finish(writer) { $0.isSuperseded(by: record.response, to: request) }
}

/// Returns the stored ranges of the representation. Throws if a record has bytes of other positions.
func readParts(_ store: DiskStore) throws -> [Range<UInt64>] {
  var ranges: [Range<UInt64>] = []
  var problem: Problem?
  store.forEachRecord(of: "p") { record in
    let range = record.response.part?.range ?? 0..<UInt64(whole.count)
    var body: [UInt8] = []
    let isRead: Void? = try? record.read(0..<record.response.bodyByteCount) { body.append(copying: $0, 0..<$0.count) }
    guard isRead != nil else { return }
    if areEqual(body, whole[Int(range.lowerBound)..<Int(range.upperBound)]) {
      ranges.append(range)
    } else {
      problem = Problem(text: "a part with other bytes")
    }
  }
  if let problem { throw problem }
  return ranges.sorted { $0.lowerBound < $1.lowerBound }
}

/// The parts that are stored before a call fails, and that which is then stored and completes the representation.
let parts = [0..<1_000, 2_000..<whole.count]
let missing = 1_000..<2_000

/// Uses the cache as an ordinary process does: opens the folder, reads, stores, replaces metadata, combines parts and reads again.
/// Each step may fail.
func use() throws {
  guard let store = try? DiskStore(folder: folder, capacity: 1_000_000) else { return }
  _ = try read(store)
  try? LupineCacheFaults.store(2, in: store)
  // Replaces the metadata only of a record whose body is that of version 2.
  var seconds: [UInt64] = []
  store.forEachRecord(of: "u") { if $0.response.fields.first("Body") == "2" { seconds.append($0.id) } }
  if let id = seconds.last {
    let new = StoredResponse(
      status: 200, fields: ["Version": "3", "Body": "2"], times: ExchangeTimes(request: 1, response: 1),
      partition: .anonymous, selectingFields: SelectingFields([]))
    try? store.replace(id, with: new, newID: .random(in: .min ... .max))
  }
  _ = try read(store)
  try? LupineCacheFaults.store(missing, in: store)
  _ = try readParts(store)
}

/// The number of files in the cache folder, without that of its key.
func fileCount() throws -> Int { try Folder(creating: folder).names().count { $0 != FolderKey.fileName } }

/// Uses the cache while the `n`-th call of the system function `call` fails. Returns false if there were fewer than `n` calls.
///
/// The variant is the way in which the call fails, such as its error code. If `hasKey` is false, the folder has lost its key, so
/// its records are removed.
func run(_ call: String, _ n: Int, _ variant: Int, hasKey: Bool) throws -> Bool {
  let clean = try DiskStore(folder: folder, capacity: 1_000_000)
  try clean.removeAll()
  try store(1, in: clean)
  for range in parts { try store(range, in: clean) }
  if !hasKey { try File.remove("\(folder)/\(FolderKey.fileName)") }
  lupine_faults_arm(call, n, CInt(variant))
  defer { lupine_faults_disarm() }
  try use()
  lupine_faults_disarm()
  let struck = lupine_faults_struck()
  let after = try DiskStore(folder: folder, capacity: 1_000_000)
  let complete = try read(after).count + readParts(after).count
  let count = try fileCount()
  // A record of the lost key can't be read any more. If removing it fails, its file remains until other files take its space.
  guard hasKey ? complete == after.count : complete <= after.count, count == after.count else {
    throw Problem(text: "\(count) files, \(after.count) records, \(complete) complete")
  }
  return struck
}

/// Removes the responses that match a condition while opening the only record's file fails in the way `variant`. No response
/// matches. Throws if the record is removed because of a shortage of descriptors or memory, or is kept after another error.
///
/// Returns the number of ways in which opening the file can fail.
func removeUnopened(_ variant: Int) throws -> Int {
  let cache = try DiskStore(folder: folder, capacity: 1_000_000)
  try cache.removeAll()
  try store(1, in: cache)
  lupine_faults_arm("openat", 2, CInt(variant))
  defer { lupine_faults_disarm() }
  // The first call opens the folder to list its records.
  cache.removeAll { _ in false }
  lupine_faults_disarm()
  guard lupine_faults_struck() else { throw Problem(text: "no file was opened") }
  let code = lupine_faults_struck_code()
  let expected = [EMFILE, ENFILE, ENOMEM, ENOSPC].contains(code) ? 1 : 0
  let count = try fileCount()
  guard cache.count == expected, count == expected else {
    throw Problem(text: "after errno \(code), \(cache.count) records and \(count) files are left")
  }
  cache.removeAll { _ in true }
  guard cache.count == 0 else { throw Problem(text: "a record that was kept can't be removed later") }
  return Int(lupine_faults_struck_variants())
}

if CommandLine.arguments.count == 3 {
  do {
    var (variant, count) = (0, 1)
    while variant < count {
      count = try removeUnopened(variant)
      variant += 1
    }
    print("\(count) errors of open")
    // EMFILE, ENFILE and at least one other error.
    exit(count >= 3 ? 0 : 1)
  } catch {
    print("\(error)")
    exit(1)
  }
}

var failed = 0
var struckCount = 0
for (group, hasKey) in [(LUPINE_FAULT_CALLS, true), (LUPINE_FAULT_CALLS, false), (LUPINE_FAULT_RECORDS, false)] {
  var next = lupine_faults_calls(group)
  while let name = next?.pointee {
    let call = String(cString: name)
    var n = 1
    var isStruck = true
    while isStruck {
      var variant = 0
      repeat {
        do {
          isStruck = try run(call, n, variant, hasKey: hasKey)
        } catch {
          print("\(call) \(n), way \(variant), \(hasKey ? "with" : "without") key: \(error)")
          failed += 1
        }
        struckCount += isStruck ? 1 : 0
        variant += 1
      } while isStruck && variant < lupine_faults_struck_variants()
      n += 1
    }
    next = next?.advanced(by: 1)
  }
}
print("\(struckCount) failed calls, \(failed) problems")
// A run in which no call failed would have tested nothing.
exit(failed == 0 && struckCount >= 50 ? 0 : 1)
