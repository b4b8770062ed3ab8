// SocketRun: the messages of `lupine --ws`: lines of standard input to the server, and received messages to the output.

import LupineEngine
import LupineWebSocket
import Synchronization

/// The WebSocket connection of one run of the command.
final class SocketRun: Sendable {
  /// The maximum length of a received message: 64 MiB, the maximum of a body in memory.
  private static let messageBytesMax = Engine.collectedBytesMax

  let channel: WebSocketChannel
  private let opening: WebSocketOpening
  private let output: Output
  private let isVerbose: Bool
  private let failure = Mutex<CommandError?>(nil)
  private let end = Awaited<Void>()

  /// Creates a run whose connection isn't open yet. A `Sec-WebSocket-Protocol` field of the command line contains the subprotocols to
  /// offer.
  init(_ options: Options, output: Output) {
    var limits = WebSocketLimits()
    (limits.messageBytesMax, limits.frameBytesMax) = (Self.messageBytesMax, Self.messageBytesMax)
    channel = WebSocketChannel(limits: limits)
    var subprotocols: [String] = []
    for case .add(let name, let value) in options.fieldEdits where name.lowercased() == "sec-websocket-protocol" {
      subprotocols += value.split { $0 == "," || $0 == " " }.map { String($0) }
    }
    opening = WebSocketOpening(subprotocols: subprotocols, deflate: DeflateOffer())
    self.output = output
    isVerbose = options.isVerbose
    if isVerbose { channel.trace { StandardError.write($0.line) } }
  }

  /// Adds the fields of the opening handshake to a request.
  func prepare(_ request: inout EngineRequest) { opening.prepare(&request, for: channel) }

  /// Begins to exchange messages after the response to the opening handshake, which was sent to `uri`, or throws the reason why it
  /// failed.
  func begin(_ head: ResponseHead, of uri: URI, over transport: WebSocketChannel.Transport) throws(CommandError) {
    let agreement: WebSocketAgreement
    do {
      agreement = try opening.check(status: head.status, head.fields)
    } catch {
      let text = error.description
      throw CommandError(
        .httpError, OptionParser.webSocketForm("\(uri): ") + text.prefix(1).lowercased() + text.dropFirst())
    }
    channel.connect(to: transport)
    channel.open(agreement)
    receiveNext()
    let channel = channel
    Task {
      do {
        try await Self.sendLines(of: InputFile.standardInput(), to: channel)
      } catch let error as CommandError {
        StandardError.write(error.line ?? "")
      }
      // The server may still be answering the lines.
      channel.close(WebSocketClose(.normal), discarding: false)
    }
  }

  /// Waits until all received messages have been printed, which another thread may still be doing when the connection has ended.
  /// Returns the error that ended the connection, or nil if it was closed with the code 1000, with 1001 or without a code.
  func result() async -> CommandError? {
    await end.value()
    return failure.withLock { $0 }
  }

  private static func sendLines(of input: InputStream, to channel: WebSocketChannel) async throws {
    var rest: [UInt8] = []
    while true {
      let bytes = try await input.read()
      rest += bytes
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        guard await send(rest[..<end], to: channel) else { return }
        rest.removeSubrange(...end)
      }
      guard !bytes.isEmpty else { break }
    }
    if !rest.isEmpty { _ = await send(rest[...], to: channel) }
  }

  /// Sends a line as a text message. Returns false if the connection has ended.
  private static func send(_ line: ArraySlice<UInt8>, to channel: WebSocketChannel) async -> Bool {
    let text = String(decoding: line, as: UTF8.self)
    return await withCheckedContinuation { continuation in
      channel.send(.text(text)) { continuation.resume(returning: $0 == nil) }
    }
  }

  private func receiveNext() {
    channel.receive { [weak self] result in
      guard let self, case .success(let message) = result else { return }
      do throws(CommandError) {
        switch message {
        case .text(let text): try output.write(text + "\n")
        case .binary(let bytes): try output.write(bytes.span)
        }
      } catch {
        failure.withLock { $0 = error }
        channel.close(WebSocketClose(.goingAway))
        // If a Close frame was sent before, `close` does nothing. Without a receiver, the connection would then never end.
        channel.discard()
        return
      }
      receiveNext()
    }
  }

  func ended(_ ending: WebSocketChannel.Ending) {
    let error: CommandError? =
      switch ending {
      case .closed(let close) where [.normal, .goingAway, .noStatus].contains(close.code): nil
      case .closed(let close):
        CommandError(
          .other,
          "the server closed the WebSocket with the code \(close.code.rawValue): "
            + String(decoding: close.reason, as: UTF8.self).printable)
      case .failed(let error): CommandError(.receiveFailed, error.description)
      case .lost, .discarded:
        CommandError(
          .receiveFailed, "the WebSocket was lost without a Close frame. Try again, or check the server's log.")
      }
    failure.withLock { $0 = $0 ?? error }
    if isVerbose, case .closed(let close) = ending {
      StandardError.write("* closed with the code \(close.code.rawValue)\n")
    }
    end.fill(())
  }
}

extension FrameTrace {
  /// The line of `--verbose` output for this frame.
  fileprivate var line: String {
    let marks = (header.isFinal ? "" : ", more follow") + (header.reservedBits == 0 ? "" : ", compressed")
    return "\(isSent ? ">" : "<") \(header.opcode), \(header.payloadByteCount) bytes\(marks)\n"
  }
}
