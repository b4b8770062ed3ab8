// URLSessionWebSocketTask: a task that exchanges messages over a WebSocket connection (RFC 6455).

public import Foundation
import LupineEngine
import LupineWebSocket
import Synchronization

// Unchecked for the same reason as its superclass. All state is constant or protected by a Mutex.
/// A task that exchanges messages with a server over a WebSocket connection.
///
/// Create one with `webSocketTask(with:)` of ``URLSession``. Messages that are sent before the connection is open are sent when it
/// has opened:
///
/// ```swift
/// let task = session.webSocketTask(with: URL(string: "wss://example.com/chat")!)
/// task.resume()
/// try await task.send(.string("hello"))
/// if case .string(let answer) = try await task.receive() { print(answer) }
/// task.cancel(with: .normalClosure, reason: nil)
/// ```
///
/// The opening handshake follows redirects, and it uses the session's cookies, credentials and proxies like other requests. The task
/// offers compression (permessage-deflate, RFC 7692). It answers pings on its own. Completion handlers are called on the delegate
/// queue. The async methods don't wait for that queue, so they may return before the delegate is notified of an earlier event.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
  /// A message of a WebSocket connection.
  public enum Message: Sendable {
    /// A binary message.
    case data(Data)
    /// A text message.
    case string(String)
  }

  /// The code that states why a WebSocket connection was closed (RFC 6455 §7.4.1). Applications use codes from 4000 to 4999, and
  /// libraries from 3000 to 3999.
  public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The code as a number.
    public let rawValue: Int

    /// Creates a code from a number. Returns nil if the number doesn't fit in the two bytes of a Close frame.
    public init?(rawValue: Int) {
      guard 0...Int(UInt16.max) ~= rawValue else { return nil }
      self.rawValue = rawValue
    }

    init(_ code: WebSocketCloseCode) { rawValue = Int(code.rawValue) }

    private init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The connection isn't closed.
    public static let invalid = CloseCode(0)
    /// The purpose of the connection is fulfilled.
    public static let normalClosure = CloseCode(1000)
    /// The server goes down, or the client leaves.
    public static let goingAway = CloseCode(1001)
    /// The peer broke the protocol.
    public static let protocolError = CloseCode(1002)
    /// The peer sent data of a kind that isn't supported.
    public static let unsupportedData = CloseCode(1003)
    /// The Close frame had no code. This code is never sent.
    public static let noStatusReceived = CloseCode(1005)
    /// The connection ended without a Close frame. This code is never sent.
    public static let abnormalClosure = CloseCode(1006)
    /// The peer sent data that doesn't fit its message type, such as text that isn't UTF-8.
    public static let invalidFramePayloadData = CloseCode(1007)
    /// The peer sent a message that breaks a policy.
    public static let policyViolation = CloseCode(1008)
    /// The peer sent a message that is too long.
    public static let messageTooBig = CloseCode(1009)
    /// The server didn't negotiate an extension that the client needs.
    public static let mandatoryExtensionMissing = CloseCode(1010)
    /// The server met an unexpected condition.
    public static let internalServerError = CloseCode(1011)
    /// The TLS handshake failed. This code is never sent.
    public static let tlsHandshakeFailure = CloseCode(1015)
  }

  private struct SocketState: ~Copyable {
    var closeCode = CloseCode.invalid
    var closeReason: Data?
    /// Whether the caller has canceled the task without a code.
    var isCanceled = false
    /// Whether the caller has closed the connection with a code.
    var isClosing = false
    /// The error of the opening handshake, with which the task completes.
    var handshakeError: URLError?
    var ending: WebSocketChannel.Ending?
    /// The result of the transfer. Nil before its end.
    var transferResult: Result<Void, URLError>?
    var hasCompleted = false
  }

  /// The connection, which exists from the start, so that messages can be sent early.
  final let channel = WebSocketChannel(limits: WebSocketLimits())
  private let opening: WebSocketOpening?
  private let delivery: SerialQueue?
  private let socketState = Mutex(SocketState())

  init(_ session: URLSession, _ request: URLRequest, subprotocols: [String], identifier: Int) {
    opening = WebSocketOpening(subprotocols: subprotocols, deflate: DeflateOffer())
    delivery = session.delivery
    super.init(session, request, identifier: identifier)
    connect(windowBytes: session.client.windowBytes)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. The task never opens a connection.
  public override init() {
    opening = nil
    delivery = nil
    super.init()
    connect(windowBytes: 0)
  }

  private func connect(windowBytes: Int) {
    channel.connect(
      to: WebSocketChannel.Transport(
        windowBytes: windowBytes,
        extendWindow: { [weak self] in self?.extendWindow(by: $0) },
        close: { [weak self] in self?.discardBody() },
        onEnd: { [weak self] in self?.connectionEnded($0) }))
  }

  // MARK: Messages

  /// The maximum length of a received message in bytes, after decompression. 1 MiB by default.
  ///
  /// If the server sends a longer message, the connection is closed with ``CloseCode/messageTooBig``, and the task fails with
  /// `POSIXError.EMSGSIZE`. A change applies to the messages that arrive afterward.
  open var maximumMessageSize: Int {
    get { channel.limits.messageBytesMax }
    set {
      var limits = WebSocketLimits()
      limits.messageBytesMax = max(0, newValue)
      // A message that is compressed badly is slightly longer than its content.
      limits.frameBytesMax = max(limits.frameBytesMax, 2 * min(limits.messageBytesMax, Int.max / 2))
      channel.limits = limits
    }
  }

  /// The number of seconds without bytes from the server after which the task sends a ping, or nil (the default) for no such pings.
  /// If the server doesn't answer within 20 seconds, the task fails with `URLError.timedOut`, unless the answer may be among bytes that
  /// haven't been read, because the task is suspended or 256 KiB of messages are unread. Must be set before the task is resumed.
  package var pingInterval: TimeInterval? {
    get { channel.timeouts.pingInterval.map { $0 / .seconds(1) } }
    set { channel.timeouts.pingInterval = newValue.flatMap { Duration(timeout: $0) } }
  }

  /// Makes the end of the connection wait until all messages before it have been received, however long that takes. For a user that
  /// receives until the end. Must be called before the first message is received.
  package func waitForReceiver() { channel.timeouts.untakenMessages = nil }

  /// Sends a message. Messages are sent in the order of the calls.
  ///
  /// - Parameters:
  ///   - message: The message to send.
  ///   - completionHandler: Called on the delegate queue with nil when the message has been buffered, and few bytes are still
  ///     waiting to be sent. Called with an error if the connection has ended before.
  open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    channel.send(WebSocketMessage(message)) { ending in self.call { completionHandler(ending.map(self.error)) } }
  }

  /// Waits for the next message. Several calls get messages in the order of the calls.
  ///
  /// If no call waits, up to 256 KiB of messages are kept in memory; then the task stops reading, so that TCP stops the server.
  /// The end of the connection is reported when the messages before it have been received, or when none was received for 5 seconds.
  /// Beyond 256 KiB, pings and the end are noticed only when messages have been received.
  ///
  /// - Parameter completionHandler: Called on the delegate queue with the message, or with an error if the connection has ended
  ///   and no message is left.
  open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
    channel.receive { result in
      self.call { completionHandler(result.map { Message($0) }.mapError { self.error($0) }) }
    }
  }

  /// Sends a ping, and waits for the server's answer.
  ///
  /// - Parameter pongReceiveHandler: Called on the delegate queue with nil when the pong arrives, or with an error if the
  ///   connection has ended before.
  open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
    channel.ping { ending in self.call { pongReceiveHandler(ending.map(self.error)) } }
  }

  private func call(_ handler: @escaping @Sendable () -> Void) {
    if let delivery { delivery.perform(.queued, handler) } else { handler() }
  }

  // MARK: Ending

  /// The code with which the connection was closed: that of the server's Close frame, or that of the client if the server broke the
  /// protocol. ``CloseCode/invalid`` while the connection is open, and ``CloseCode/abnormalClosure`` if it ended without a Close
  /// frame.
  open var closeCode: CloseCode { socketState.withLock { $0.closeCode } }

  /// The text of the server's Close frame, in UTF-8. Nil if there is none.
  open var closeReason: Data? { socketState.withLock { $0.closeReason } }

  /// Closes the connection with a code.
  ///
  /// Messages that were already sent arrive before the Close frame. The task completes without an error when the server has
  /// answered, or with `URLError.cancelled` if it doesn't answer within 5 seconds. If the connection isn't open yet, this method is
  /// the same as ``cancel()``. If it is already being closed, this method only discards the messages that haven't been received.
  ///
  /// - Parameters:
  ///   - closeCode: The code to send. With one that is never sent, such as ``CloseCode/noStatusReceived``, the frame has no code.
  ///   - reason: A text in UTF-8 of at most 123 bytes, or nil for none. A longer text is truncated.
  open func cancel(with closeCode: CloseCode, reason: Data?) {
    let code = WebSocketCloseCode(rawValue: UInt16(closeCode.rawValue))
    let close = WebSocketClose(code.isSendable ? code : .noStatus, reason: reason.map { [UInt8]($0) } ?? [])
    guard channel.close(close) else {
      // A connection that is already being closed isn't aborted.
      return channel.isEnding ? channel.discard() : cancel()
    }
    socketState.withLock { $0.isClosing = true }
    // The transfer of a suspended task wouldn't read the server's answer.
    if state == .suspended { resumeFully() }
    mutableState.withLock { if $0.state == .running { $0.state = .canceling } }
  }

  open override func suspend() {
    super.suspend()
    channel.setReadingPaused { state == .suspended }
  }

  open override func resume() {
    super.resume()
    channel.setReadingPaused { state == .suspended }
  }

  /// Ends the connection without a Close frame. The task completes with `URLError.cancelled`. Has no effect if the task has already
  /// completed.
  open override func cancel() {
    let isClosing = socketState.withLock { state in
      state.isCanceled = true
      return state.isClosing
    }
    super.cancel()
    if isClosing { transfer?.cancel() }
    channel.discard()
  }

  /// The number of bytes that were received so far after the opening handshake, as frames.
  open override var countOfBytesReceived: Int64 { channel.byteCounts.received }

  /// The number of bytes that were sent so far after the opening handshake, as frames.
  open override var countOfBytesSent: Int64 { channel.byteCounts.sent }

  /// The request that the task has sent most recently, with a ws or wss URL.
  open override var currentRequest: URLRequest? { super.currentRequest?.inWebSocketForm }

  // MARK: The transfer

  override var deliversOnDelegateQueue: Bool { false }

  override func makeTaskTransfer(_ request: URLRequest, in session: URLSession) throws -> any TaskTransfer {
    guard let opening, session.background == nil, request.httpMethod == "GET",
      ["ws", "wss"].contains(request.url?.scheme?.lowercased())
    else {
      throw URLError(
        .unsupportedURL,
        "\(ReadableText.url(request.url)): a WebSocket needs a GET request with a ws or wss URL, "
          + "and a session that isn't a background session.")
    }
    let request = request.inHTTPForm
    var offer = request
    for field in opening.fields { offer.setValue(field.value, forHTTPHeaderField: field.name) }
    if let answered = try makeProtocolTransfer(offer, in: session) { return answered }
    var converted = try session.client.convert(request)
    if let explicitPriority { converted.priority = explicitPriority }
    if let callObserver { converted.callObserver = callObserver }
    opening.prepare(&converted, for: channel)
    return Transfer(
      converted, from: request, client: session.client, delivery: session.webSocketTransfers,
      windowBytes: session.client.windowBytes, observer: WebSocketObserver(self))
  }

  override func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // The transfer can't follow a redirect to a ws URL itself, so the request is returned with an http URL. A redirect from wss to
    // ws is returned unchanged, so that it fails.
    let isDowngrade = request.url?.scheme?.lowercased() == "ws" && response.url?.scheme?.lowercased() == "https"
    super.transfer(isRedirectedTo: request, by: response) { chosen in
      answer(isDowngrade && chosen == request ? chosen : chosen?.inHTTPForm)
    }
  }

  override func permitted(_ types: [URLProtocol.Type]) -> [URLProtocol.Type] {
    types.filter { $0 is any WebSocketProtocol.Type }
  }

  override var decidesOnResponse: Bool { true }

  override func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    answer(receive(handshake: response as? HTTPURLResponse))
  }

  override func receive(_ body: Data) { channel.receive(bytes: body.span) }

  /// Checks the response to the opening handshake. Returns false, and keeps the error, if the server doesn't switch to WebSocket.
  private func receive(handshake response: HTTPURLResponse?) -> Bool {
    guard let opening, let response else { return false }
    do throws(WebSocketHandshakeError) {
      let agreement = try opening.check(status: response.statusCode, response.fields)
      channel.open(agreement) {
        self.notify { session, delegate in
          delegate.urlSession(session, webSocketTask: self, didOpenWithProtocol: agreement.subprotocol)
        }
      }
      return true
    } catch {
      let error = URLError(.badServerResponse, "\(ReadableText.url(currentRequest?.url)): \(error)")
      socketState.withLock { $0.handshakeError = error }
      return false
    }
  }

  private func notify(
    _ call: @escaping @Sendable (_ session: URLSession, _ delegate: any URLSessionWebSocketDelegate) -> Void
  ) {
    guard let (session, delegates) = notified,
      let delegate = delegates.task as? any URLSessionWebSocketDelegate
        ?? session.delegates?.task as? any URLSessionWebSocketDelegate
    else { return }
    session.delivery.perform { call(session, delegate) }
  }

  private func connectionEnded(_ ending: WebSocketChannel.Ending) {
    socketState.withLock { state in
      state.ending = ending
      switch ending {
      case .closed(let close):
        state.closeCode = CloseCode(close.code)
        state.closeReason = close.reason.isEmpty ? nil : Data(close.reason)
      case .failed(let error): state.closeCode = CloseCode(error.closeCode)
      case .lost, .discarded: state.closeCode = state.handshakeError == nil ? .abnormalClosure : .invalid
      }
    }
    if case .closed(let close) = ending {
      notify { session, delegate in
        delegate.urlSession(
          session, webSocketTask: self, didCloseWith: CloseCode(close.code), reason: self.closeReason)
      }
    }
    completeIfEnded()
  }

  override func transferDidEnd(_ error: URLError?) {
    socketState.withLock { $0.transferResult = error.map { .failure($0) } ?? .success(()) }
    channel.transportEnded()
    completeIfEnded()
  }

  /// Completes the task when its transfer has ended and all received messages have been parsed.
  private func completeIfEnded() {
    let completion = socketState.withLock { state -> (error: (any Error)?, Void)? in
      guard let result = state.transferResult, let ending = state.ending, !state.hasCompleted else { return nil }
      state.hasCompleted = true
      return (Self.completionError(state, result, ending), ())
    }
    if let completion { complete(completion.error) }
  }

  private static func completionError(
    _ state: borrowing SocketState, _ result: Result<Void, URLError>, _ ending: WebSocketChannel.Ending
  ) -> (any Error)? {
    if let error = state.handshakeError { return error }
    switch (ending, result) {
    case (.failed(let error), _): return Self.error(error)
    case (_, .failure(let error)) where state.isCanceled: return error
    case (.closed, _): return nil
    case (.lost, .failure(let error)), (.discarded, .failure(let error)): return error
    case (.lost, .success), (.discarded, .success):
      return URLError(state.isClosing ? .cancelled : .networkConnectionLost)
    }
  }

  /// The error of a message that can't be sent or received, because the connection has ended.
  private func error(_ ending: WebSocketChannel.Ending) -> any Error {
    if case .failed(let error) = ending { return Self.error(error) }
    let (handshakeError, result, isCanceled) = socketState.withLock { state in
      (state.handshakeError, state.transferResult, state.isCanceled)
    }
    if let handshakeError { return handshakeError }
    if case .failure(let error) = result { return error }
    return isCanceled ? URLError(.cancelled) : POSIXError(.ENOTCONN)
  }

  private static func error(_ error: WebSocketError) -> any Error {
    switch error {
    case .messageTooBig, .frameTooBig: POSIXError(.EMSGSIZE)
    case .pingTimedOut: URLError(.timedOut, error.description)
    default: POSIXError(.EPROTO)
    }
  }
}

extension URLSessionWebSocketTask {
  /// Sends a message, and returns when it has been buffered. See ``send(_:completionHandler:)``.
  public func send(_ message: Message) async throws {
    guard isPlain else {
      return try await result { completion in
        send(message) { error in completion(error.map { .failure($0) } ?? .success(())) }
      }
    }
    // Usually the message is buffered at once.
    var awaited: Awaited<WebSocketChannel.Ending?>?
    let result = channel.send(WebSocketMessage(message)) {
      let later = Awaited<WebSocketChannel.Ending?>(channel.resumptions)
      awaited = later
      return { later.fill($0) }
    }
    if case .failure(let ending)? = result { throw error(ending) }
    if let awaited, let ending = await awaited.value() { throw error(ending) }
  }

  /// Waits for the next message. See ``receive(completionHandler:)``. Canceling the awaiting Swift task has no effect on it.
  public func receive() async throws -> Message {
    guard isPlain else { return try await result { receive(completionHandler: $0) } }
    var awaited: Awaited<Result<WebSocketMessage, WebSocketChannel.Ending>>?
    var result = channel.receive {
      let later = Awaited<Result<WebSocketMessage, WebSocketChannel.Ending>>(channel.resumptions)
      awaited = later
      return { later.fill($0) }
    }
    if let awaited { result = await awaited.value() }
    switch result {
    case .success(let message)?: return Message(message)
    case .failure(let ending)?: throw error(ending)
    case nil: preconditionFailure("a channel returned neither a message nor the reason why there is none")
    }
  }

  /// Sends a ping, and returns when the server has answered. See ``sendPing(pongReceiveHandler:)``.
  public func sendPing() async throws {
    try await result { completion in
      let end: @Sendable ((any Error)?) -> Void = { completion($0.map { .failure($0) } ?? .success(())) }
      if isPlain { channel.ping { end($0.map(self.error)) } } else { sendPing(pongReceiveHandler: end) }
    }
  }

  /// Whether no subclass can have replaced the methods with completion handlers, so that the async methods needn't call them.
  private var isPlain: Bool { type(of: self) == URLSessionWebSocketTask.self }

  private func result<Value: Sendable>(
    _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) async throws -> Value { try await firstValue(call).get() }
}

extension WebSocketMessage {
  fileprivate init(_ message: URLSessionWebSocketTask.Message) {
    self =
      switch message {
      // Several times as fast as Array(data).
      case .data(let data): .binary(data.withContiguousStorageIfAvailable { Array($0) } ?? Array(data))
      case .string(let text): .text(text)
      }
  }
}

extension URLSessionWebSocketTask.Message {
  fileprivate init(_ message: WebSocketMessage) {
    self =
      switch message {
      case .binary(let bytes): .data(Data(bytes))
      case .text(let text): .string(text)
      }
  }
}
