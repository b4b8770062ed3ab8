// `LocalTransfer`: its window, and what pauses, ends or fails it between two pieces.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct LocalTransferTests {
  /// Records the transfer's callbacks.
  private final class Observer: TransferObserver {
    struct Seen: Sendable {
      var body = Data()
      var pieceCount = 0
      var answer: (@Sendable (Bool) -> Void)?
      var end: URLError??
    }

    let seen = Mutex(Seen())
    let ended = Recorder<URLError?>()
    let decidesOnResponse: Bool
    /// Called with the number of each piece.
    private let onPiece: @Sendable (Int) -> Void

    init(decides: Bool = false, onPiece: @escaping @Sendable (Int) -> Void = { _ in }) {
      decidesOnResponse = decides
      self.onPiece = onPiece
    }

    func transfer(
      isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
      answer: @escaping @Sendable (URLRequest?) -> Void
    ) { Issue.record("redirected") }
    func transfer(
      isAskedFor challenge: URLAuthenticationChallenge,
      answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void
    ) { Issue.record("challenged") }
    func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
      seen.withLock { $0.answer = answer }
    }
    func transfer(didReceive body: Data) {
      let count = seen.withLock { seen in
        seen.body.append(body)
        seen.pieceCount += 1
        return seen.pieceCount
      }
      onPiece(count)
    }
    func transfer(didSend byteCount: Int64) { Issue.record("sent") }
    func transferDidEnd(_ error: URLError?) {
      seen.withLock { $0.end = .some(error) }
      ended.record(error)
    }

    var byteCount: Int { seen.withLock { $0.body.count } }
    var isOver: Bool { seen.withLock { $0.end != nil } }
  }

  /// A transfer on two queues, with a function that waits until both are idle.
  private final class Rig: Sendable {
    let files = DispatchQueue(label: "files")
    let delivery = DispatchQueue(label: "delivery")
    let observer: Observer
    let transfer: LocalTransfer

    init(_ url: URL, windowBytes: Int? = nil, _ observer: Observer = Observer()) {
      self.observer = observer
      transfer = LocalTransfer(
        URLRequest(url: url), files: SerialQueue(files),
        delivery: SerialQueue(delivery), windowBytes: windowBytes, observer: observer)
    }

    /// Waits until the current steps and eight more have run.
    func settle() async {
      for _ in 0..<5 {
        await files.drain()
        await delivery.drain()
      }
    }
  }

  private let byteCount = 1_000_000

  private func withFile(_ body: (URL) async throws -> Void) async throws {
    try await withLocalFile("file.bin", Pattern.data(byteCount), body)
  }

  /// Calls `body` with a file, and a transfer of it that has delivered all that its window and observer allow.
  private func withTransfer(
    windowBytes: Int? = nil, _ observer: Observer = Observer(), _ body: (URL, Rig) async throws -> Void
  ) async throws {
    try await withFile { file in
      let rig = Rig(file, windowBytes: windowBytes, observer)
      rig.transfer.send()
      await rig.settle()
      try await body(file, rig)
    }
  }

  /// Expects that the transfer ends without an error, with the whole file.
  private func expectWhole(_ rig: Rig) async {
    #expect(await rig.observer.ended.next() == .some(nil))
    let isWhole = rig.observer.seen.withLock { $0.body } == Pattern.data(byteCount)
    #expect(isWhole)
  }

  @Test("at most the window is delivered until half of it is granted again")
  func window() async throws {
    try await withTransfer(windowBytes: 100_000) { _, rig in
      #expect(rig.observer.byteCount == 100_000 && rig.transfer.receivedByteCount == 100_000)
      rig.transfer.grant(49_999)
      await rig.settle()
      #expect(rig.observer.byteCount == 100_000)
      rig.transfer.grant(1)
      await rig.settle()
      #expect(rig.observer.byteCount == 150_000 && !rig.observer.isOver)
      rig.transfer.grant(.max / 2)
      await expectWhole(rig)
    }
  }

  @Test("without a window, a large file is delivered in pieces of at most 256 KiB")
  func pieces() async throws {
    try await withTransfer { _, rig in
      await expectWhole(rig)
      #expect(rig.observer.seen.withLock { $0.pieceCount } == 4)
    }
  }

  @Test("a paused transfer neither opens nor delivers the file, and continues where it was paused")
  func pause() async throws {
    try await withFile { file in
      let rig = Rig(file, windowBytes: 200_000)
      rig.transfer.setSuspended(true, change: 1)
      rig.transfer.send()
      await rig.settle()
      #expect(rig.transfer.response == nil && rig.observer.byteCount == 0)
      rig.transfer.setSuspended(false, change: 2)
      await rig.settle()
      #expect(rig.observer.byteCount == 200_000 && rig.transfer.response?.expectedContentLength == Int64(byteCount))
      rig.transfer.setSuspended(true, change: 3)
      rig.transfer.grant(.max / 2)
      await rig.settle()
      #expect(rig.observer.byteCount == 200_000 && !rig.observer.isOver)
      rig.transfer.setSuspended(false, change: 4)
      await expectWhole(rig)
    }
  }

  @Test(
    "a transfer that is cancelled at any time before its end ends once, with cancelled")
  func cancel() async throws {
    try await withFile { file in
      let unstarted = Rig(file)
      unstarted.transfer.cancel()
      unstarted.transfer.send()
      #expect(await unstarted.observer.ended.next()??.code == .cancelled)
      #expect(unstarted.transfer.response == nil)

      let asked = Rig(file, Observer(decides: true))
      asked.transfer.send()
      await asked.settle()
      let answer = try #require(asked.observer.seen.withLock { $0.answer })
      asked.transfer.cancel()
      #expect(await asked.observer.ended.next()??.code == .cancelled)
      answer(true)

      let reading = Rig(file, windowBytes: 100_000)
      reading.transfer.send()
      await reading.settle()
      reading.transfer.cancel()
      reading.transfer.cancel()
      reading.transfer.grant(.max / 2)
      #expect(await reading.observer.ended.next()??.code == .cancelled)

      for rig in [unstarted, asked, reading] {
        await rig.settle()
        #expect(rig.observer.byteCount == (rig === reading ? 100_000 : 0))
      }
    }
  }

  @Test(
    "nothing is read before the observer answers, and only its first answer has an effect", arguments: [true, false])
  func answers(isWanted: Bool) async throws {
    try await withTransfer(Observer(decides: true)) { _, rig in
      #expect(rig.observer.byteCount == 0 && !rig.observer.isOver)
      let answer = try #require(rig.observer.seen.withLock { $0.answer })
      answer(isWanted)
      answer(!isWanted)
      let end = try #require(await rig.observer.ended.next())
      #expect(end?.code == (isWanted ? nil : .cancelled))
      #expect(rig.observer.byteCount == (isWanted ? byteCount : 0))
    }
  }

  @Test("a file that is truncated while it is read fails with the number of bytes read")
  func truncated() async throws {
    try await withTransfer(windowBytes: 100_000) { file, rig in
      try #require(Glibc.truncate(file.path, 120_000) == 0)
      rig.transfer.grant(.max / 2)
      let error = try #require(await rig.observer.ended.next() ?? nil)
      #expect(error.code == .resourceUnavailable && rig.observer.byteCount == 120_000)
      #expect(error.localizedDescription.contains("it had 1000000 bytes but ended after 120000"))
    }
  }

  @Test("a file that grows while it is read is read up to the length in its response")
  func grown() async throws {
    try await withTransfer(windowBytes: 100_000) { file, rig in
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(repeating: 0, count: 500_000))
      rig.transfer.grant(.max / 2)
      #expect(await rig.observer.ended.next() == .some(nil))
      #expect(rig.observer.byteCount == byteCount)
    }
  }

  @Test("a file that is replaced while it is read is read as it was when opened, and closed at the end")
  func replaced() async throws {
    try await withTransfer(windowBytes: 100_000) { file, rig in
      try Data("other".utf8).write(to: file, options: .atomic)
      #expect(Self.descriptors(of: file) == 1)
      rig.transfer.grant(.max / 2)
      await expectWhole(rig)
      #expect(Self.descriptors(of: file) == 0)
    }
  }

  /// Returns the number of the process's descriptors that are open on a file opened at this path.
  private static func descriptors(of file: URL) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasPrefix(file.path)
        ?? false
    }
  }
}
