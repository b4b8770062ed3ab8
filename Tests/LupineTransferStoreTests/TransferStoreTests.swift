// TransferStoreTests: the folder with the records of a session.

import Foundation
import Glibc
import LupineReactor
import LupineTestSupport
import Testing

@testable import LupineTransferStore

@Suite struct TransferStoreTests {
  private func open(_ folder: StoreFolder) throws -> TransferStore { try TransferStore(folder: folder.path) }

  @Test(
    "a transfer store contains the records of the store that had the folder open before, with progress and description")
  func recovery() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    let first = try store.create(id: 2, .sample)
    let second = try store.create(id: 1, .upload)
    try second.mark { $0.stage = .running }
    try second.mark { ($0.stage, $0.status) = (.answered, 404) }
    try first.describe { $0.taskDescription = "new" }
    try first.setAnswer(.sample)
    store.close()
    let later = try open(folder)
    #expect(later.damagedIDs.isEmpty && later.recovered.map(\.id) == [1, 2])
    #expect(later.recovered[0].progress == TransferProgress(stage: .answered, status: 404))
    #expect(later.recovered[1].description.taskDescription == "new")
    #expect(later.recovered[1].answer == .sample && later.recovered[0].answer == nil)
    for record in later.recovered { record.remove() }
    #expect(folder.names == ["lock"])
  }

  @Test("while a transfer store has a folder open, no other store can open the folder")
  func owner() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    #expect(throws: TransferStoreError.inUse) { try open(folder) }
    store.close()
    let second = try open(folder)
    second.close()
  }

  @Test("the transfer store creates missing parent folders, and only the user can read the folder and the records")
  func permissions() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    let record = try store.create(id: 1, .sample)
    try record.setAnswer(.sample)
    #expect(folder.mode() == 0o700)
    for name in folder.names { #expect(folder.mode(name) == 0o600, "\(name)") }
  }

  @Test("the transfer store doesn't use a folder that other users own or can change, nor a link to a folder")
  func foreignFolder() throws {
    let folder = StoreFolder()
    try open(folder).close()
    let refusal = TransferStoreError.system(SystemError(call: "open \(folder.path)", code: EPERM))
    for mode in [0o720, 0o702, 0o777] as [mode_t] {
      try #require(chmod(folder.path, mode) == 0)
      #expect(throws: refusal) { try open(folder) }
    }
    try #require(chmod(folder.path, 0o755) == 0)
    try open(folder).close()
    let link = "\(folder.path)-link"
    try #require(symlink(folder.path, link) == 0)
    defer { unlink(link) }
    #expect(throws: TransferStoreError.system(SystemError(call: "open \(link)", code: ENOTDIR))) {
      try TransferStore(folder: link)
    }
    // Only root can change the owner of a folder.
    guard geteuid() == 0 else { return }
    try #require(chown(folder.path, 1, 1) == 0)
    #expect(throws: refusal) { try open(folder) }
  }

  @Test("the transfer store doesn't use a folder below one in which anyone can replace entries")
  func replaceableParent() throws {
    let parent = StoreFolder()
    try #require(mkdir(parent.path, 0o700) == 0 && chmod(parent.path, 0o777) == 0)
    let refusal = TransferStoreError.system(SystemError(call: "open \(parent.path)/a", code: EPERM))
    #expect(throws: refusal) { try TransferStore(folder: "\(parent.path)/a") }
    #expect(parent.names.isEmpty)
  }

  @Test("after a transfer store's folder has been replaced by a link, records are written to the opened folder only")
  func replacedFolder() throws {
    let (folder, other) = (StoreFolder(), StoreFolder())
    let store = try open(folder)
    let first = try store.create(id: 1, .sample)
    try #require(mkdir(other.path, 0o700) == 0)
    let moved = "\(folder.path)-moved"
    try #require(rename(folder.path, moved) == 0)
    try #require(symlink(other.path, folder.path) == 0)
    defer {
      unlink(folder.path)
      rename(moved, folder.path)
    }
    try first.mark { $0.stage = .running }
    let second = try store.create(id: 2, .sample)
    try second.setAnswer(.sample)
    second.remove()
    #expect(other.names.isEmpty)
    store.close()
    let later = try TransferStore(folder: moved)
    #expect(later.recovered.map(\.id) == [1] && later.recovered.first?.progress.stage == .running)
    later.close()
  }

  @Test("the transfer store deletes and reports a damaged record, and keeps the other records")
  func damage() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    _ = try store.create(id: 1, .sample)
    _ = try store.create(id: 2, .sample)
    store.close()
    let name = TransferFileName.record(1).text
    var bytes = try folder.bytes(name)
    bytes[40] ^= 1
    try folder.write(bytes, to: name)
    try folder.write([], to: TransferFileName.record(9).text)
    let later = try open(folder)
    #expect(later.damagedIDs == [1, 9] && later.recovered.map(\.id) == [2])
    #expect(folder.names == [TransferFileName.record(2).text, "lock"])
  }

  @Test(
    "a forged record with the greatest number of changes is dropped, and a record below the limit can still be changed")
  func changeCount() throws {
    let folder = StoreFolder()
    try open(folder).close()
    for (id, sequence) in [(1, TransferFormat.sequenceMax), (2, .max - 1), (3, .max)] as [(UInt64, UInt64)] {
      let content = TransferRecordContent(description: .sample, progress: TransferProgress(), sequence: sequence)
      try folder.write(content.bytes(id: id), to: TransferFileName.record(id).text)
    }
    let store = try open(folder)
    #expect(store.damagedIDs == [2, 3] && store.recovered.map(\.id) == [1])
    for stage in [TransferProgress.Stage.running, .finished] { try store.recovered[0].mark { $0.stage = stage } }
    #expect(store.recovered[0].progress.stage == .finished)
  }

  @Test("a link, FIFO, folder or device that is named like a record is dropped alone, and the other records are kept")
  func foreignRecords() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    for id in [1, 2] as [UInt64] { _ = try store.create(id: id, .sample) }
    store.close()
    func path(_ id: UInt64) -> String { "\(folder.path)/\(TransferFileName.record(id).text)" }
    let elsewhere = "\(folder.path)-elsewhere"
    try #require(rename(path(1), elsewhere) == 0)
    defer { unlink(elsewhere) }
    // The link leads to a valid record of the same task.
    try #require(symlink(elsewhere, path(1)) == 0)
    try #require(symlink("/nonexistent/lupine", path(3)) == 0)
    try #require(symlink(path(4), path(4)) == 0)
    try #require(mkfifo(path(5), 0o600) == 0)
    try #require(mkdir(path(6), 0o700) == 0)
    defer { rmdir(path(6)) }
    // Another name of the first file, whose content belongs to task 1.
    try #require(link(elsewhere, path(7)) == 0)
    var expected: [UInt64] = [1, 3, 4, 5, 6, 7]
    // Only some users may create devices.
    if mknod(path(8), S_IFCHR | 0o600, 0x103) == 0 { expected.append(8) }
    let later = try open(folder)
    #expect(later.damagedIDs == expected && later.recovered.map(\.id) == [2])
    #expect(folder.names == [TransferFileName.record(2).text, TransferFileName.record(6).text, "lock"])
    #expect(File.exists(elsewhere))
  }

  @Test("a recorded body or response head that is a link to another file isn't used")
  func linkedBody() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    defer { store.close() }
    let secret = "\(folder.path)-secret"
    let file = try WritableFile(creating: secret)
    try file.write([1, 2, 3].span, at: 0)
    try file.close()
    defer { unlink(secret) }
    for (id, description) in [(1, TransferDescription.sample), (2, .upload)] as [(UInt64, TransferDescription)] {
      let finished = TransferProgress(stage: .finished, status: 200, byteCount: 3, startedAt: 1)
      let record = try store.create(id: id, description, finished)
      try record.setAnswer(.sample)
      for isSymbolic in [true, false] {
        try #require((isSymbolic ? symlink : link)(secret, record.bodyPath) == 0)
        #expect(throws: TransferStoreError.self) { try record.bodyByteCount() }
        #expect(record.recovery() == (id == 1 ? .start : .answerLost))
        try record.removeBody()
      }
      try folder.write([1, 2, 3], to: TransferFileName.body(id).text)
      #expect(record.recovery() == .deliver)
      let answer = "\(folder.path)/\(TransferFileName.answer(id).text)"
      try #require(rename(answer, "\(folder.path)-answer") == 0)
      defer { unlink("\(folder.path)-answer") }
      try #require(symlink("\(folder.path)-answer", answer) == 0)
      #expect(record.answer == nil)
    }
    #expect(File.exists(secret))
  }

  @Test("the transfer store deletes its own files that belong to no record, and doesn't touch other files")
  func leftovers() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    let record = try store.create(id: 1, .sample)
    try folder.write([1], to: TransferFileName.body(1).text)
    store.close()
    for name in [TransferFileName.answer(2), .body(2), .temporary(TransferFileName.record(3).text)] {
      try folder.write([1], to: name.text)
    }
    try folder.write([1], to: "notes.txt")
    let later = try open(folder)
    #expect(folder.names == [TransferFileName.record(1).text, "lock", TransferFileName.body(1).text, "notes.txt"])
    #expect(try record.bodyByteCount() == 1)
    later.recovered[0].remove()
    #expect(folder.names == ["lock", "notes.txt"])
  }

  @Test("an update of a transfer record that is cut off at any byte leaves the record's previous progress")
  func cutChange() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    let record = try store.create(id: 1, .upload)
    let name = TransferFileName.record(1).text
    for stage in [TransferProgress.Stage.running, .answered, .finished] {
      let earlier = record.progress
      let before = try folder.bytes(name)
      try record.mark { $0.stage = stage }
      let after = try folder.bytes(name)
      let changed = before.indices.filter { before[$0] != after[$0] }
      for end in changed.dropLast() {
        let cut = Array(after[...end] + before[(end + 1)...])
        #expect(TransferRecordContent(cut, id: 1)?.progress == earlier)
      }
      #expect(TransferRecordContent(after, id: 1)?.progress == record.progress)
    }
  }

  @Test("the transfer store doesn't record a task description longer than the limit")
  func limit() throws {
    let folder = StoreFolder()
    let store = try open(folder)
    var description = TransferDescription.sample
    description.body = [UInt8](repeating: 0, count: TransferFormat.headBytesMax)
    #expect(throws: TransferStoreError.tooLarge) { try store.create(id: 1, description) }
    #expect(folder.names == ["lock"])
  }

  @Test(
    "after a failure of any system call, each record of the transfer store is complete or absent, and no progress is lost"
  )
  func failedCalls() async throws {
    let folder = StoreFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineTransferFaults").path
    let (status, output) = try await ChildProcess.run([program, folder.path])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
