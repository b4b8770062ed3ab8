// CannedServer: a server that sends fixed bytes on each connection and records the requests, for misbehaving replies.

import Foundation
import Glibc
import Synchronization

/// A server on a free port, which listens until it is released.
final class CannedServer: Sendable {
  let port: UInt16
  private let listener: CInt
  private let received = Mutex<[String]>([])

  var url: String { "http://127.0.0.1:\(port)" }
  /// The requests received so far, as text.
  var requests: [String] { received.withLock { $0 } }

  struct CannotListen: Error {}

  /// Close-on-exec, because a program that another test starts would keep the connection open.
  private static let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

  /// Accepts one connection per reply, in order, reads one request from each, sends the reply and closes the
  /// connection.
  ///
  /// - Parameters:
  ///   - isDeaf: Whether the server never accepts connections and has no room for waiting ones.
  ///   - cue: If set, the reply is sent as soon as this text was received, even if the request isn't complete.
  convenience init(replies: [String], isDeaf: Bool = false, answersAfter cue: String? = nil) throws {
    let listener = socket(AF_INET, Self.kind, 0)
    var address = sockaddr_in.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, isDeaf ? 0 : 16) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw CannotListen() }
    self.init(listener, port: UInt16(bigEndian: address.sin_port), replies, answersAfter: cue)
  }

  /// Creates the same server on an abstract Unix socket.
  convenience init(abstractName: String, replies: [String]) throws {
    let listener = socket(AF_UNIX, Self.kind, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = [0] + Array(abstractName.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let isListening = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 16) == 0
      }
    }
    guard isListening else { throw CannotListen() }
    self.init(listener, port: 0, replies, answersAfter: nil)
  }

  private init(_ listener: CInt, port: UInt16, _ replies: [String], answersAfter cue: String?) {
    self.listener = listener
    self.port = port
    Thread.detachNewThread { [weak self] in
      for reply in replies {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        let request = Self.readRequest(connection, until: cue)
        self?.received.withLock { $0.append(request) }
        let bytes = Array(reply.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        _ = send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        close(connection)
      }
    }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  // Reads up to the end of the body according to Content-Length, or the last chunk.
  private static func readRequest(_ connection: CInt, until cue: String?) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isComplete(bytes, cue) {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isComplete(_ bytes: [UInt8], _ cue: String?) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    if let cue { return text.contains(cue) }
    if text.contains("Transfer-Encoding: chunked\r\n") { return text.hasSuffix("\r\n0\r\n\r\n") }
    guard let end = text.range(of: "\r\n\r\n") else { return false }
    let length = text.range(of: "Content-Length: ").flatMap { range in
      Int(text[range.upperBound...].utf8.prefix { $0 != 13 }.map { String(UnicodeScalar($0)) }.joined())
    }
    return text[end.upperBound...].utf8.count >= length ?? 0
  }
}
