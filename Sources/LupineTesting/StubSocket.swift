// StubSocket: the server's end of a WebSocket connection that a stub has accepted.

import Foundation
public import LupineURLSession
import Synchronization

/// The server's end of a WebSocket connection, for a closure of ``StubReply/webSocket(protocol:serve:)``.
///
/// Messages pass through frames as over a network, but without a limit: neither side waits for the other to read.
public final class StubSocket: Sendable {
  private enum Stage { case open, closing, ended }

  private struct State: ~Copyable {
    var stage = Stage.open
    /// The client's bytes that aren't a complete frame yet.
    var bytes: [UInt8] = []
    var clientClose: ClientClose?
    var frames: ClientFrames?
  }

  /// The content of the client's Close frame.
  public struct ClientClose: Sendable, Equatable {
    /// The code of the frame, or `noStatusReceived` if it has none.
    public let code: URLSessionWebSocketTask.CloseCode
    /// The text that explains the code. Empty if there is none.
    public let reason: String

    /// Creates a value to compare with the client's.
    public init(code: URLSessionWebSocketTask.CloseCode, reason: String = "") {
      self.code = code
      self.reason = reason
    }
  }

  /// The request of the opening handshake, with a ws or wss URL.
  public let request: RecordedRequest
  /// The client's messages in order. The sequence ends when the client or the stub closes the connection, or the connection ends.
  /// One loop can read it.
  public let messages: AsyncStream<URLSessionWebSocketTask.Message>

  private let continuation: AsyncStream<URLSessionWebSocketTask.Message>.Continuation
  private let state = Mutex(State())
  /// Passes bytes to the client.
  private let deliver: @Sendable ([UInt8]) -> Void
  /// Ends the connection.
  private let finish: @Sendable () -> Void

  init(
    _ request: RecordedRequest, deliver: @escaping @Sendable ([UInt8]) -> Void, finish: @escaping @Sendable () -> Void
  ) {
    self.request = request
    self.deliver = deliver
    self.finish = finish
    (messages, continuation) = AsyncStream.makeStream()
  }

  /// Begins to receive the frames of `task`.
  func begin(with task: URLSessionWebSocketTask) {
    let frames = task.sendFrames { [weak self] in self?.receive($0) }
    state.withLock { $0.frames = frames }
  }

  /// Sends a message to the client. Has no effect after the connection was closed.
  public func send(_ message: URLSessionWebSocketTask.Message) {
    let frame =
      switch message {
      case .data(let data): StubFrame(opcode: .binary, payload: [UInt8](data))
      case .string(let text): StubFrame(opcode: .text, payload: Array(text.utf8))
      }
    send(frame)
  }

  /// Closes the connection: sends a Close frame, and ends the connection when the client has answered it. Has no effect if the
  /// connection was already closed.
  ///
  /// - Parameters:
  ///   - code: The code of the frame. With `noStatusReceived`, the frame has no code and no reason.
  ///   - reason: The text that explains the code. At most 123 bytes in UTF-8 are permitted by the protocol.
  public func close(_ code: URLSessionWebSocketTask.CloseCode = .normalClosure, reason: String = "") {
    let code = code.rawValue
    let payload = code == 1005 ? [] : [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8)
    send(StubFrame(opcode: .close, payload: payload), then: .closing)
    continuation.finish()
  }

  /// Ends the connection without a Close frame, as if it were lost.
  public func disconnect() { end() }

  /// The client's Close frame, first or in reply. Nil if the client has sent none.
  public var clientClose: ClientClose? { state.withLock { $0.clientClose } }

  private func send(_ frame: StubFrame, then next: Stage = .open) {
    // Sends while the lock is held, so that frames of several threads stay in the order of the stages.
    state.withLock { state in
      guard state.stage == .open else { return }
      state.stage = next
      deliver(frame.bytes)
    }
  }

  /// Ends the connection, because the client needs it no more or the stub wants to.
  func end() {
    let frames = state.withLock { state -> ClientFrames? in
      state.stage = .ended
      return state.frames.take()
    }
    continuation.finish()
    frames?.stop()
    finish()
  }

  /// Processes bytes of the client, or the end of its bytes.
  private func receive(_ bytes: [UInt8]?) {
    guard let bytes else { return end() }
    let frames = state.withLock { state -> [StubFrame] in
      state.bytes += bytes
      var frames: [StubFrame] = []
      while let frame = StubFrame.removeFirst(from: &state.bytes) { frames.append(frame) }
      return frames
    }
    for frame in frames {
      switch frame.opcode {
      case .text: continuation.yield(.string(String(decoding: frame.payload, as: UTF8.self)))
      case .binary: continuation.yield(.data(Data(frame.payload)))
      case .ping: send(StubFrame(opcode: .pong, payload: frame.payload))
      case .pong: break
      case .close:
        let number = frame.payload.count < 2 ? 1005 : Int(frame.payload[0]) << 8 | Int(frame.payload[1])
        let reason = String(decoding: frame.payload.dropFirst(2), as: UTF8.self)
        if let code = URLSessionWebSocketTask.CloseCode(rawValue: number) {
          state.withLock { $0.clientClose = ClientClose(code: code, reason: reason) }
        }
        send(frame, then: .closing)
        continuation.finish()
      }
    }
  }
}
