// `LocalTransfer`: its window, and what pauses, ends or fails it between two pieces.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct LocalTransferTests {
  /// A mock observer that records the calls of a file: URL's transfer.
  private final class Observer: TransferObserver {
    struct Callbacks: Sendable {
      var body = Data()
      var pieceCount = 0
      var answer: (@Sendable (Bool) -> Void)?
      var end: URLError??
    }

    let seen = Mutex(Callbacks())
    let ended = Recorder<URLError?>()
    let decidesOnResponse: Bool
    /// Called for each part of the file's content, with the number of parts so far.
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

  /// A transfer of a file: URL with its two queues, one for file access and one for delivery.
  private final class TransferFixture: Sendable {
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

    /// Waits until the transfer has run the steps that are queued, and eight more.
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

  /// Calls `body` with a file, and with a transfer that has delivered as much of the file as the window and the observer allow.
  private func withTransfer(
    windowBytes: Int? = nil, _ observer: Observer = Observer(), _ body: (URL, TransferFixture) async throws -> Void
  ) async throws {
    try await withFile { file in
      let fixture = TransferFixture(file, windowBytes: windowBytes, observer)
      fixture.transfer.send()
      await fixture.settle()
      try await body(file, fixture)
    }
  }

  /// Waits for the transfer's end, and checks that it delivered the whole file without an error.
  private func expectWhole(_ fixture: TransferFixture) async {
    #expect(await fixture.observer.ended.next() == .some(nil))
    let isWhole = fixture.observer.seen.withLock { $0.body } == Pattern.data(byteCount)
    #expect(isWhole)
  }

  @Test(
    "a request for a file URL delivers at most its receive window, and continues when half of the window is free again")
  func window() async throws {
    try await withTransfer(windowBytes: 100_000) { _, fixture in
      #expect(fixture.observer.byteCount == 100_000 && fixture.transfer.receivedByteCount == 100_000)
      fixture.transfer.extendWindow(by: 49_999)
      await fixture.settle()
      #expect(fixture.observer.byteCount == 100_000)
      fixture.transfer.extendWindow(by: 1)
      await fixture.settle()
      #expect(fixture.observer.byteCount == 150_000 && !fixture.observer.isOver)
      fixture.transfer.extendWindow(by: .max / 2)
      await expectWhole(fixture)
    }
  }

  @Test("without a receive window, a request for a file URL delivers a large file in parts of at most 256 KiB")
  func pieces() async throws {
    try await withTransfer { _, fixture in
      await expectWhole(fixture)
      #expect(fixture.observer.seen.withLock { $0.pieceCount } == 4)
    }
  }

  @Test("a suspended request for a file URL doesn't open or deliver the file, and resumes at the same offset")
  func pause() async throws {
    try await withFile { file in
      let fixture = TransferFixture(file, windowBytes: 200_000)
      fixture.transfer.setSuspended(true, change: 1)
      fixture.transfer.send()
      await fixture.settle()
      #expect(fixture.transfer.response == nil && fixture.observer.byteCount == 0)
      fixture.transfer.setSuspended(false, change: 2)
      await fixture.settle()
      #expect(
        fixture.observer.byteCount == 200_000 && fixture.transfer.response?.expectedContentLength == Int64(byteCount))
      fixture.transfer.setSuspended(true, change: 3)
      fixture.transfer.extendWindow(by: .max / 2)
      await fixture.settle()
      #expect(fixture.observer.byteCount == 200_000 && !fixture.observer.isOver)
      fixture.transfer.setSuspended(false, change: 4)
      await expectWhole(fixture)
    }
  }

  @Test(
    "a request for a file URL that is cancelled at any moment before completion fails once, with the error cancelled")
  func cancel() async throws {
    try await withFile { file in
      let unstarted = TransferFixture(file)
      unstarted.transfer.cancel()
      unstarted.transfer.send()
      #expect(await unstarted.observer.ended.next()??.code == .cancelled)
      #expect(unstarted.transfer.response == nil)

      let asked = TransferFixture(file, Observer(decides: true))
      asked.transfer.send()
      await asked.settle()
      let answer = try #require(asked.observer.seen.withLock { $0.answer })
      asked.transfer.cancel()
      #expect(await asked.observer.ended.next()??.code == .cancelled)
      answer(true)

      let reading = TransferFixture(file, windowBytes: 100_000)
      reading.transfer.send()
      await reading.settle()
      reading.transfer.cancel()
      reading.transfer.cancel()
      reading.transfer.extendWindow(by: .max / 2)
      #expect(await reading.observer.ended.next()??.code == .cancelled)

      for fixture in [unstarted, asked, reading] {
        await fixture.settle()
        #expect(fixture.observer.byteCount == (fixture === reading ? 100_000 : 0))
      }
    }
  }

  @Test(
    "a file URL's file is read only after the response is accepted, and later decisions about the response are ignored",
    arguments: [true, false])
  func answers(isWanted: Bool) async throws {
    try await withTransfer(Observer(decides: true)) { _, fixture in
      #expect(fixture.observer.byteCount == 0 && !fixture.observer.isOver)
      let answer = try #require(fixture.observer.seen.withLock { $0.answer })
      answer(isWanted)
      answer(!isWanted)
      let end = try #require(await fixture.observer.ended.next())
      #expect(end?.code == (isWanted ? nil : .cancelled))
      #expect(fixture.observer.byteCount == (isWanted ? byteCount : 0))
    }
  }

  @Test("if a file is truncated while its URL is being loaded, the request fails with the number of bytes read")
  func truncated() async throws {
    try await withTransfer(windowBytes: 100_000) { file, fixture in
      try #require(Glibc.truncate(file.path, 120_000) == 0)
      fixture.transfer.extendWindow(by: .max / 2)
      let error = try #require(await fixture.observer.ended.next() ?? nil)
      #expect(error.code == .resourceUnavailable && fixture.observer.byteCount == 120_000)
      #expect(error.localizedDescription.contains("it had 1000000 bytes but ended after 120000"))
    }
  }

  @Test("if a file grows while its URL is being loaded, only as many bytes are read as the response announced")
  func grown() async throws {
    try await withTransfer(windowBytes: 100_000) { file, fixture in
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(repeating: 0, count: 500_000))
      fixture.transfer.extendWindow(by: .max / 2)
      #expect(await fixture.observer.ended.next() == .some(nil))
      #expect(fixture.observer.byteCount == byteCount)
    }
  }

  @Test("if a file is replaced while its URL is being loaded, the original file is read to its end and closed")
  func replaced() async throws {
    try await withTransfer(windowBytes: 100_000) { file, fixture in
      try Data("other".utf8).write(to: file, options: .atomic)
      #expect(Self.descriptors(of: file) == 1)
      fixture.transfer.extendWindow(by: .max / 2)
      await expectWhole(fixture)
      #expect(Self.descriptors(of: file) == 0)
    }
  }

  /// Returns the number of this process's descriptors for files that were opened at this path.
  private static func descriptors(of file: URL) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasPrefix(file.path)
        ?? false
    }
  }
}
