// FolderTests: creating folders, refusing those that others can replace, and using an open folder by its descriptor.

import Dispatch
import Foundation
import Glibc
import LupineReactor
import Synchronization
import Testing

@Suite struct FolderTests {
  /// A temporary directory, which the deinitializer deletes.
  private final class Base: Sendable {
    let path = "/tmp/lupine-folder-test-\(UUID().uuidString)"

    init(mode: mode_t = 0o700) throws {
      try #require(mkdir(path, 0o700) == 0)
      // The process's umask doesn't apply to chmod.
      try #require(chmod(path, mode) == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func names(_ folder: String = "") -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path + folder)) ?? []).sorted()
    }
  }

  private func write(_ bytes: [UInt8], to name: String, in folder: Folder) throws {
    let file = try WritableFile(creating: name, in: folder)
    try file.write(bytes.span, at: 0)
    try file.close()
  }

  @Test("several threads can create the same missing folders at the same time")
  func threads() throws {
    let base = try Base()
    let failureCount = Atomic(0)
    for round in 0..<100 {
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        if (try? Folder(creating: "\(base.path)/\(round)/a/b")) == nil { failureCount.add(1, ordering: .relaxed) }
      }
    }
    #expect(failureCount.load(ordering: .relaxed) == 0)
  }

  @Test("a folder below one in which anyone can replace entries is neither created nor used")
  func replaceableParents() throws {
    let open = try Base(mode: 0o777)
    #expect(throws: SystemError(call: "open \(open.path)/a/b", code: EPERM)) {
      try Folder(creating: "\(open.path)/a/b")
    }
    #expect(open.names().isEmpty)
    try #require(mkdir("\(open.path)/a", 0o700) == 0)
    #expect(throws: SystemError.self) { try Folder(creating: "\(open.path)/a") }
    #expect(throws: SystemError.self) { try Folder(creating: "\(open.path)/a/b") }
    // The sticky bit reserves replacing entries for their owners.
    try #require(chmod(open.path, 0o1777) == 0)
    _ = try Folder(creating: "\(open.path)/a/b")
  }

  @Test("the parents of the folder to which a link in the path leads count too, and the folder of the link")
  func linkedParents() throws {
    let (open, safe) = (try Base(mode: 0o777), try Base())
    try #require(mkdir("\(open.path)/a", 0o700) == 0)
    try #require(symlink("\(open.path)/a", "\(safe.path)/link") == 0)
    #expect(throws: SystemError(call: "open \(safe.path)/link/b", code: EPERM)) {
      try Folder(creating: "\(safe.path)/link/b")
    }
    try #require(symlink(safe.path, "\(open.path)/link") == 0)
    #expect(throws: SystemError(call: "open \(open.path)/link/b", code: EPERM)) {
      try Folder(creating: "\(open.path)/link/b")
    }
    #expect(safe.names() == ["link"])
    try #require(symlink("\(safe.path)/real", "\(safe.path)/other") == 0)
    _ = try Folder(creating: "\(safe.path)/real")
    _ = try Folder(creating: "\(safe.path)/other/b")
  }

  @Test("an open folder's files stay in it after its path has been replaced by a link to another folder")
  func replacedPath() throws {
    let base = try Base()
    let folder = try Folder(creating: "\(base.path)/folder")
    _ = try Folder(creating: "\(base.path)/other")
    for name in ["a", "b", "c"] {
      try write([1], to: name, in: folder)
      try write([2], to: name, in: Folder(creating: "\(base.path)/other"))
    }
    try #require(rename("\(base.path)/folder", "\(base.path)/moved") == 0)
    try #require(symlink("\(base.path)/other", "\(base.path)/folder") == 0)
    try folder.remove("a")
    try folder.move("b", to: "d", replaces: false)
    try write([3], to: "e", in: folder)
    try folder.touch("c")
    #expect(try folder.names().sorted() == ["c", "d", "e"])
    #expect(try Folder.names(at: "\(base.path)/moved").sorted() == ["c", "d", "e"])
    #expect(base.names("/moved") == ["c", "d", "e"] && base.names("/other") == ["a", "b", "c"])
    #expect(folder.contains("e") && !folder.contains("a"))
    var bytes: [UInt8] = []
    _ = try File(reading: "c", in: folder).read(2, at: 0, into: &bytes)
    #expect(bytes == [1])
  }

  @Test("files in an open folder aren't opened through links, and an exclusive move replaces no file")
  func links() throws {
    let base = try Base()
    let folder = try Folder(creating: "\(base.path)/folder")
    try write([1], to: "a", in: folder)
    try #require(symlink("a", "\(base.path)/folder/link") == 0)
    #expect(throws: SystemError(call: "open", code: ELOOP)) { _ = try File(reading: "link", in: folder) }
    #expect(throws: SystemError(call: "open", code: ELOOP)) { _ = try WritableFile(reopening: "link", in: folder) }
    #expect(throws: SystemError(call: "open", code: EEXIST)) { _ = try WritableFile(creating: "link", in: folder) }
    try write([2], to: "b", in: folder)
    #expect(throws: SystemError(call: "rename", code: EEXIST)) { try folder.move("b", to: "a", replaces: false) }
    try folder.move("b", to: "a", replaces: true)
    #expect(try folder.names().sorted() == ["a", "link"])
  }

  @Test("a folder's path must name a folder, and may be relative")
  func paths() throws {
    for path in ["", "/"] {
      #expect(throws: SystemError(call: "open \(path)", code: EINVAL)) { try Folder(creating: path) }
    }
    let base = try Base()
    #expect(throws: SystemError.self) { try Folder(creating: "/proc/none/a") }
    _ = try Folder(creating: "..\(String(repeating: "/..", count: 40))\(base.path)/./a//b/")
    #expect(base.names("/a") == ["b"])
  }
}
