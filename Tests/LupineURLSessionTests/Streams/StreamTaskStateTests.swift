// StreamTaskStateTests: histories of stream tasks, as events with the actions that must follow, without sockets and clocks.

import Foundation
import Testing

@testable import LupineURLSession

@Suite("A stream task's decisions", .timeLimit(.minutes(10)))
struct StreamTaskStateTests {
  typealias State = StreamTaskState
  typealias Action = StreamTaskState.Action

  /// An event, and the actions that must follow it.
  struct Step {
    let actions: [Action]
    let event: @Sendable (inout State) -> [Action]

    init(_ actions: Action..., event: @escaping @Sendable (inout State) -> [Action]) {
      (self.actions, self.event) = (actions, event)
    }
  }

  struct History: CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
  }

  private static let limit = State.readAheadBytesMax
  private static let abc = Data("abc".utf8)
  private static let lost = StreamFailure.connection(URLError(.networkConnectionLost))

  /// The steps of a task that has connected.
  private static let opened = [Step(.connect) { $0.start() }, Step { $0.connected() }]

  private static func read(
    _ id: Int, _ minLength: Int, _ maxLength: Int, timeout: TimeInterval = 0, _ actions: Action...
  ) -> Step {
    Step(actions) { $0.read(id, minLength: minLength, maxLength: maxLength, timeout: timeout) }
  }

  private static func write(_ id: Int, _ text: String, timeout: TimeInterval = 0, _ actions: Action...) -> Step {
    Step(actions) { $0.write(id, Data(text.utf8), timeout: timeout) }
  }

  private static func received(_ text: String, _ actions: Action...) -> Step {
    Step(actions) { $0.received(Data(text.utf8)) }
  }

  static let histories: [History] = [
    History(
      testDescription: "nothing happens before the task is started and connected",
      steps: [
        read(1, 1, 10), write(2, "abc"), Step(.connect) { $0.start() },
        Step(.extendWindow(10), .write(Array("abc".utf8))) { $0.connected() },
        Step(.completeWrite(2, nil)) { $0.sent(3) },
      ]),
    History(
      testDescription: "a read waits for its minimum length, and takes at most its maximum length",
      steps: opened + [
        read(1, 4, 5, .extendWindow(5)), received("abc"),
        received("de", .completeRead(1, Data("abcde".utf8), isAtEnd: false)),
        read(2, 0, 0, .completeRead(2, Data(), isAtEnd: false)),
        read(3, 0, 2, .extendWindow(2)), received("f", .completeRead(3, Data("f".utf8), isAtEnd: false)),
        // One byte of the window is left.
        read(4, 1, 2, .extendWindow(1)), received("gh", .completeRead(4, Data("gh".utf8), isAtEnd: false)),
      ]),
    History(
      testDescription: "the window never exceeds the limit, unless the minimum length does",
      steps: opened + [
        read(1, 1, .max, .extendWindow(limit)), received("abc", .completeRead(1, abc, isAtEnd: false)),
        read(2, 1, .max, .extendWindow(3)), received("a", .completeRead(2, Data("a".utf8), isAtEnd: false)),
        read(3, limit + 5, .max, .extendWindow(6)),
      ]),
    History(
      testDescription: "reads are performed in order, and so are writes, but neither waits for the other direction",
      steps: opened + [
        read(1, 3, 3, .extendWindow(3)), read(2, 3, 3), write(3, "ab", .write(Array("ab".utf8))), write(4, "c"),
        Step(.completeWrite(3, nil), .write(Array("c".utf8))) { $0.sent(2) },
        received("abc", .completeRead(1, abc, isAtEnd: false), .extendWindow(3)),
        Step(.completeWrite(4, nil)) { $0.sent(3) },
        received("abc", .completeRead(2, abc, isAtEnd: false)),
      ]),
    History(
      testDescription: "the end completes all reads, and the task ends after closeWrite too",
      steps: opened + [
        read(1, 5, 9, .extendWindow(9)), read(2, 1, 9), received("abc"),
        Step(
          .notifyReadClosed, .completeRead(1, abc, isAtEnd: true), .completeRead(2, Data(), isAtEnd: true)
        ) { $0.receivedEnd() },
        read(3, 1, 9, .completeRead(3, Data(), isAtEnd: true)),
        write(4, "x", .write([120])), Step { $0.closeWrite() },
        Step(.completeWrite(4, nil), .endWriting, .notifyWriteClosed, .close) { $0.sent(1) },
        read(5, 1, 9, .completeRead(5, Data(), isAtEnd: true)),
        write(6, "x", .completeWrite(6, .writingClosed)),
        Step(.finish(nil)) { $0.ended(nil) },
        read(7, 1, 9, .completeRead(7, Data(), isAtEnd: true)),
      ]),
    History(
      testDescription: "atEOF is true only with the last bytes",
      steps: opened + [
        read(1, 3, 3, timeout: 5, .startTimer(State.Timer(operation: 1, run: 0), 5), .extendWindow(3)), received("ab"),
        Step(.failRead(1, .timedOut(5))) { $0.expired(State.Timer(operation: 1, run: 0)) },
        Step(.notifyReadClosed) { $0.receivedEnd() },
        read(2, 1, 1, .completeRead(2, Data("a".utf8), isAtEnd: false)),
        read(3, 1, 1, .completeRead(3, Data("b".utf8), isAtEnd: true)),
      ]),
    History(
      testDescription: "after closeRead, received bytes are discarded, and later reads fail",
      steps: opened + [
        read(1, 3, 3, .extendWindow(3)), Step { $0.closeRead() },
        received("abc", .completeRead(1, abc, isAtEnd: false), .notifyReadClosed, .extendWindow(.max)),
        received("more"), read(2, 1, 1, .failRead(2, .readingClosed)),
        Step(.endWriting, .notifyWriteClosed, .close) { $0.closeWrite() }, Step(.finish(nil)) { $0.ended(nil) },
      ]),
    History(
      testDescription: "TLS waits for the earlier operations of both directions, and delays the later ones",
      steps: opened + [
        read(1, 1, 3, .extendWindow(3)), write(2, "a", .write([97])), Step { $0.secure(3) }, read(4, 1, 3),
        write(5, "b"),
        received("abc", .completeRead(1, abc, isAtEnd: false)),
        Step(.completeWrite(2, nil), .startTLS) { $0.sent(1) },
        Step(.extendWindow(3), .write([98])) { $0.secured() },
        // The connection is secure already.
        Step { $0.secure(6) }, received("abc", .completeRead(4, abc, isAtEnd: false)),
        Step(.completeWrite(5, nil)) { $0.sent(2) },
      ]),
    History(
      testDescription: "bytes that arrived in the clear and weren't read are refused when TLS starts",
      steps: opened + [
        read(1, 3, 3, timeout: 5, .startTimer(State.Timer(operation: 1, run: 0), 5), .extendWindow(3)), received("ab"),
        Step(.failRead(1, .timedOut(5))) { $0.expired(State.Timer(operation: 1, run: 0)) },
        Step(.cancel) { $0.secure(2) },
        read(3, 1, 1, .failRead(3, .unreadBytes(2))), Step(.finish(.unreadBytes(2))) { $0.ended(lost) },
      ]),
    History(
      testDescription: "bytes that arrive in the clear after TLS was to start are refused",
      steps: opened + [
        Step(.startTLS) { $0.secure(1) }, read(2, 1, 1),
        received("ab", .failRead(2, .unreadBytes(2)), .cancel), Step(.finish(.unreadBytes(2))) { $0.ended(nil) },
      ]),
    History(
      testDescription: "TLS can't start when a direction is closed",
      steps: opened + [
        Step(.endWriting, .notifyWriteClosed) { $0.closeWrite() }, Step(.cancel) { $0.secure(1) },
        Step(.finish(.halfClosed)) { $0.ended(nil) },
      ]),
    History(
      testDescription: "a read that times out fails alone, and its bytes stay for the next one",
      steps: opened + [
        read(1, 5, 5, timeout: 2, .startTimer(State.Timer(operation: 1, run: 0), 2), .extendWindow(5)), read(2, 3, 5),
        received("abc"),
        Step(.failRead(1, .timedOut(2)), .completeRead(2, abc, isAtEnd: false)) {
          $0.expired(State.Timer(operation: 1, run: 0))
        },
      ]),
    History(
      testDescription: "a write that times out fails the later ones, and the peer gets no regular end",
      steps: opened + [
        write(1, "a", .write([97])),
        write(2, "b", timeout: 2, .startTimer(State.Timer(operation: 2, run: 0), 2)), write(3, "c"),
        Step(.completeWrite(2, .timedOut(2)), .completeWrite(3, .timedOut(2))) {
          $0.expired(State.Timer(operation: 2, run: 0))
        },
        write(4, "d", .completeWrite(4, .timedOut(2))), Step(.completeWrite(1, nil)) { $0.sent(1) },
        Step { $0.closeWrite() }, Step(.notifyReadClosed, .extendWindow(.max), .close) { $0.closeRead() },
      ]),
    History(
      testDescription: "a suspended task performs nothing, and resuming it starts the time limits again",
      steps: opened + [
        Step { $0.setSuspended(true, change: 1) }, read(1, 1, 3, timeout: 2), write(2, "a"),
        Step(.startTimer(State.Timer(operation: 1, run: 2), 2), .extendWindow(3), .write([97])) {
          $0.setSuspended(false, change: 2)
        },
        Step { $0.setSuspended(true, change: 3) }, Step { $0.expired(State.Timer(operation: 1, run: 2)) },
        received("a"),
        Step(
          .startTimer(State.Timer(operation: 1, run: 4), 2), .completeRead(1, Data("a".utf8), isAtEnd: false)
        ) { $0.setSuspended(false, change: 4) },
        Step { $0.expired(State.Timer(operation: 1, run: 2)) },
      ]),
    History(
      testDescription: "canceling and losing the connection fail all operations",
      steps: opened + [
        read(1, 1, 3, .extendWindow(3)), write(2, "a", .write([97])), Step { $0.secure(3) }, write(4, "b"),
        Step(.failRead(1, lost), .completeWrite(2, lost), .completeWrite(4, lost), .finish(lost)) { $0.ended(lost) },
        Step { $0.cancel() }, read(5, 1, 1, .failRead(5, lost)),
      ]),
    History(
      testDescription: "a canceled task completes when the connection has ended",
      steps: [
        read(1, 1, 3), Step(.connect) { $0.start() },
        Step(.failRead(1, .cancelled), .cancel) { $0.cancel() }, Step { $0.connected() }, received("abc"),
        write(2, "a", .completeWrite(2, .cancelled)), Step(.finish(.cancelled)) { $0.ended(lost) },
        Step { $0.ended(nil) },
      ]),
    History(
      testDescription: "captured streams get the connection after the earlier operations, and the task no longer does",
      steps: opened + [
        write(1, "a", .write([97])), Step { $0.capture(2) }, Step(.completeWrite(1, nil), .capture) { $0.sent(1) },
        read(3, 1, 1, .failRead(3, .captured)), write(4, "a", .completeWrite(4, .captured)),
        Step { $0.closeRead() }, Step { $0.closeWrite() }, Step { $0.setSuspended(true, change: 1) },
        Step(.extendWindow(3)) { $0.read(5, minLength: 1, maxLength: 3, timeout: 0, isStreams: true) },
        received("abc", .completeRead(5, abc, isAtEnd: false)),
        Step(.endWriting, .notifyWriteClosed) { $0.closeWrite(isStreams: true) },
        Step(.notifyReadClosed, .extendWindow(.max), .close) { $0.closeRead(isStreams: true) },
      ]),
    History(
      testDescription: "a captured write of another owner fails",
      steps: opened + [
        Step(.completeWrite(1, .captured)) { $0.write(1, abc, timeout: 0, isStreams: true) },
        Step(.failRead(2, .captured)) { $0.read(2, minLength: 1, maxLength: 1, timeout: 0, isStreams: true) },
      ]),
  ]

  @Test("each event of a stream task has the actions of its history", arguments: histories)
  func history(_ history: History) {
    var state = State()
    for (index, step) in history.steps.enumerated() {
      #expect(step.event(&state) == step.actions, "step \(index)")
    }
  }

  @Test("a long write is passed on in pieces, as the kernel accepts them")
  func pieces() {
    let limit = State.unsentBytesMax
    var state = State()
    _ = state.start() + state.connected()
    let actions = state.write(1, Data(repeating: 7, count: 2 * limit + 1), timeout: 0)
    #expect(actions == [.write([UInt8](repeating: 7, count: limit))])
    #expect(state.sent(UInt64(limit - 10)) == [.write([UInt8](repeating: 7, count: limit - 10))])
    #expect(state.sent(UInt64(2 * limit - 10)) == [.write([UInt8](repeating: 7, count: 11))])
    #expect(state.sent(UInt64(2 * limit + 1)) == [.completeWrite(1, nil)])
  }

  @Test("a peer that sends more than a read asks for can't fill the memory, because the window is used up")
  func bounded() {
    var (state, windowBytes) = (State(), 0)
    _ = state.start() + state.connected()
    for id in 1...100 {
      for case .extendWindow(let byteCount) in state.read(id, minLength: 1, maxLength: 1 << 24, timeout: 1) {
        windowBytes += byteCount
      }
      _ = state.expired(State.Timer(operation: id, run: 0))
      #expect(windowBytes <= State.readAheadBytesMax)
    }
    _ = state.received(Data(repeating: 1, count: windowBytes))
    #expect(state.unreadByteCount == State.readAheadBytesMax)
  }
}

extension StreamTaskStateTests.Step {
  fileprivate init(
    _ actions: [StreamTaskState.Action],
    event: @escaping @Sendable (inout StreamTaskState) -> [StreamTaskState.Action]
  ) {
    (self.actions, self.event) = (actions, event)
  }
}
