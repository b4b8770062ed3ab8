// URLSessionStreamTask and URLSessionStreamDelegate: a task that reads from and writes to a TCP connection, with TLS from any time
// on, and the delegate that it notifies.

public import Foundation
import LupineEngine

// Unchecked for the same reason as its superclass. All state is constant or protected by a Mutex.
/// A task that reads from and writes to a TCP connection in any protocol, unencrypted or with TLS.
///
/// Create one with ``URLSession/streamTask(withHostName:port:)``, and resume it to connect. Operations may be added before:
///
/// ```swift
/// let task = session.streamTask(withHostName: "mail.example.com", port: 587)
/// task.resume()
/// let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 4096, timeout: 30)
/// try await task.write(Data("EHLO client.example.com\r\n".utf8), timeout: 30)
/// ```
///
/// **Order.** Reads are performed in order, and so are writes. A read doesn't delay a write, and a write doesn't delay a read.
/// ``startSecureConnection()`` and ``captureStreams()`` wait for all operations added before, and delay those added afterward.
///
/// **Time limits.** Connecting has the session's ``URLSessionConfiguration/timeoutIntervalForRequest`` for each phase, and so has TLS.
/// A read or write has its own limit, which starts when it is added to a running task, or when the task is resumed. 0 means no
/// limit. A read that times out fails alone; the bytes that have arrived stay for the next read. A write that times out may have
/// been sent in part, so the later writes fail too.
///
/// **Memory.** Bytes are read from the connection only for a read that was added, at most 256 KiB ahead or, if it is larger, the
/// read's minimum length. Otherwise they stay in the kernel, and TCP stops the server.
///
/// **End.** The task completes without an error when both directions are closed: after ``closeWrite()``, and after a read with
/// `atEOF` or ``closeRead()``. It completes with an error if the connection is lost or the task is canceled. All operations then
/// fail with that error.
///
/// The session's proxies apply as to an https URL: HTTP proxies open a tunnel with CONNECT, with the credentials of the proxy's
/// settings. The session's address policy, resolver, socket options and trust settings apply too. Background sessions have no
/// stream tasks. ``URLSessionConfiguration/waitsForConnectivity`` doesn't apply.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
  /// The connection, or the error for a host or port that can't be used. Nil for a task without a session.
  private let connection: Result<StreamTransfer, URLError>?

  init(_ session: URLSession, host: String, port: Int, identifier: Int) {
    connection = Result { () throws(URLError) in
      guard session.background == nil else {
        throw URLError(.unsupportedURL, "Background sessions have no stream tasks. Use another session.")
      }
      let origin = try Origin(streamTo: host, port)
      guard let url = URL(string: "tcp://\(origin.authorityForm)") else { throw URLError(.badURL) }
      return StreamTransfer(to: origin, URLRequest(url: url), client: session.client, delivery: session.delivery)
    }
    super.init(session, nil, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. Its operations fail.
  public override init() {
    connection = nil
    super.init()
  }

  /// Nil, because a stream task has no request.
  open override var currentRequest: URLRequest? { nil }

  // MARK: Reading and writing

  /// Reads bytes, and calls a handler on the delegate queue.
  ///
  /// - Parameters:
  ///   - minBytes: The minimum number of bytes. The read completes earlier only at the end. 0 counts as 1, unless `maxBytes` is 0.
  ///   - maxBytes: The maximum number of bytes; at least `minBytes`, which replaces a smaller value.
  ///   - timeout: The time limit in seconds, or 0 for none.
  ///   - completionHandler: Called once with the bytes, empty if there are none left, and whether the end of the data follows them;
  ///     or with nil, false and a `URLError`.
  @preconcurrency
  open func readData(
    ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
    completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
  ) {
    guard case .success(let connection)? = connection else { return completionHandler(nil, false, unusable) }
    connection.read(minLength: minBytes, maxLength: maxBytes, timeout: timeout, completionHandler)
  }

  /// Reads bytes. Returns them, and whether the end of the data follows them. Canceling the Swift task doesn't end the read.
  open func readData(
    ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
  ) async throws -> (Data?, Bool) {
    let (data, isAtEnd, error): (Data?, Bool, (any Error)?) = await firstValue { completion in
      readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { completion(($0, $1, $2)) }
    }
    if let error { throw error }
    return (data, isAtEnd)
  }

  /// Writes all bytes of `data`, and calls a handler on the delegate queue when the kernel has accepted them. The server may not have
  /// received them yet.
  ///
  /// - Parameters:
  ///   - data: The bytes to write.
  ///   - timeout: The time limit in seconds, or 0 for none.
  ///   - completionHandler: Called once with nil or a `URLError`.
  @preconcurrency
  open func write(
    _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    guard case .success(let connection)? = connection else { return completionHandler(unusable) }
    connection.write(data, timeout: timeout, completionHandler)
  }

  /// Writes all bytes of `data`, and returns when the kernel has accepted them. Canceling the Swift task doesn't end the write.
  open func write(_ data: Data, timeout: TimeInterval) async throws {
    let error: (any Error)? = await firstValue { write(data, timeout: timeout, completionHandler: $0) }
    if let error { throw error }
  }

  /// Passes the connection to a pair of streams after the operations added so far. The delegate receives them in
  /// ``URLSessionStreamDelegate/urlSession(_:streamTask:didBecome:outputStream:)``, and the task completes without further calls.
  open func captureStreams() { usable?.captureStreams() }

  /// Closes the sending direction after the writes added so far. The server reads the end of the data. Continue to read until `atEOF`.
  open func closeWrite() { usable?.closeWrite() }

  /// Closes the receiving direction after the reads added so far. Bytes that the server still sends are discarded.
  open func closeRead() { usable?.closeRead() }

  /// Starts TLS after the operations added so far. Operations added later are encrypted.
  ///
  /// The certificate is verified as for https, and must match the host name. The session's delegate receives the same challenge about
  /// the server's trust. If the server requests a client certificate, it gets the one of the session's TLS settings, or the one that
  /// the delegate has chosen earlier for an https URL with the same host and port; the delegate isn't asked.
  ///
  /// If TLS fails, the task fails. It also fails if bytes that the server sent in the clear are still unread, because they would
  /// pass for protected ones. Has no effect on a connection with TLS.
  open func startSecureConnection() { usable?.startSecureConnection() }

  /// Has no effect, as on Apple's systems: the connection stays encrypted.
  @available(*, deprecated, message: "TLS can't be turned off once it is on.")
  open func stopSecureConnection() {}

  private var usable: StreamTransfer? { try? connection?.get() }

  private var unusable: URLError {
    if case .failure(let error)? = connection { error } else { URLError(.cancelled) }
  }

  // MARK: Delegates

  /// The delegate that is notified of the task's stream events: the task's own or, if that isn't a stream delegate, the session's.
  private var streamDelegate: (any URLSessionStreamDelegate)? {
    ownDelegate as? any URLSessionStreamDelegate ?? session?.delegate as? any URLSessionStreamDelegate
  }

  /// Returns the next stream delegate to call if `delegate` doesn't implement a method. Returns nil if there is none.
  fileprivate func streamDelegate(after delegate: any URLSessionTaskDelegate) -> (any URLSessionStreamDelegate)? {
    self.delegate(after: delegate) as? any URLSessionStreamDelegate
  }

  // MARK: Life

  override func start(with replacement: URLRequest?, in session: URLSession) {
    begin(session, connection?.map { $0.currentRequest } ?? .success(nil))
  }

  override func makeTaskTransfer(_ request: URLRequest, in session: URLSession) throws -> any TaskTransfer {
    guard let usable else { throw unusable }
    usable.attach { self.handle($0, of: usable) }
    return usable
  }

  /// Handles an event of the task's connection, on the delegate queue.
  private func handle(_ event: StreamTransfer.Event, of connection: StreamTransfer) {
    switch event {
    case .readClosed: if let session { streamDelegate?.urlSession(session, readClosedFor: self) }
    case .writeClosed: if let session { streamDelegate?.urlSession(session, writeClosedFor: self) }
    case .captured: complete(with: StreamTaskInputStream(connection), StreamTaskOutputStream(connection))
    case .ended(let error): transferDidEnd(error)
    }
  }

  override func transferDidEnd(_ error: URLError?) {
    usable?.taskEnded(error)
    // The handlers of the task's operations come first.
    session?.delivery.perform { self.complete(error) }
  }

  /// Completes the task without an error or a further call of its delegate, after passing the connection's streams to the delegate.
  private func complete(with input: InputStream, _ output: OutputStream) {
    guard let session else { return }
    streamDelegate?.urlSession(session, streamTask: self, didBecome: input, outputStream: output)
    complete(nil, nil, in: session)
  }
}

/// The methods that a session calls on its delegate queue to report the events of stream tasks.
@preconcurrency
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
  /// Called when the server has closed its sending direction, or when ``URLSessionStreamTask/closeRead()`` has taken effect.
  ///
  /// In the first case, bytes may still be unread: read until `atEOF`. The server's end is noticed only when the task reads.
  func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)
  /// Called when ``URLSessionStreamTask/closeWrite()`` has taken effect. Later writes fail.
  func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)
  /// Called on Apple's systems when a better route to the server exists. Never called on Linux.
  func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)
  /// Called after ``URLSessionStreamTask/captureStreams()`` with the streams of the connection. This is the last call for the task,
  /// which has completed.
  ///
  /// Open the streams before use. Their methods block the calling thread until the connection has acted; each stream may be used on
  /// one thread at a time. They don't support run loops. Closing or releasing a stream closes its direction of the connection. They
  /// work independently of the session.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - streamTask: The task.
  ///   - inputStream: A stream that reads from the connection.
  ///   - outputStream: A stream that writes to the connection.
  func urlSession(
    _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
    outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
    streamTask.streamDelegate(after: self)?.urlSession(session, readClosedFor: streamTask)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
    streamTask.streamDelegate(after: self)?.urlSession(session, writeClosedFor: streamTask)
  }

  /// Default implementation. Does nothing.
  public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate releases the streams,
  /// which closes the connection.
  public func urlSession(
    _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
    outputStream: OutputStream
  ) {
    streamTask.streamDelegate(after: self)?.urlSession(
      session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
  }
}

extension Origin {
  /// Creates the origin of a stream to a host, a name or an IP address, and a port. Throws `URLError.badURL` if they are malformed.
  fileprivate init(streamTo host: String, _ port: Int) throws(URLError) {
    let authority = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    // A host with a delimiter, such as "a@b" or "a/b", would be parsed as something else than a host.
    let isIPv6 = name.contains(":") && name.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    guard 1...65_535 ~= port, let uri = try? URI("https://\(authority):\(port)/"),
      isIPv6 || uri.origin.host == name.lowercased(), uri.origin.port == port
    else {
      throw URLError(
        .badURL,
        "\(host.debugDescription), port \(port): not a host name or an IP address with a port from 1 to 65535.")
    }
    self = uri.origin
  }
}
