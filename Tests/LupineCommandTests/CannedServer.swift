// A server for what well-behaved ones don't do: it answers each connection with fixed bytes, and keeps what it was sent.

import Foundation
import Glibc
import Synchronization

/// Listens on a port of its own until it is released.
final class CannedServer: Sendable {
  let port: UInt16
  private let listener: CInt
  private let received = Mutex<[String]>([])

  var url: String { "http://127.0.0.1:\(port)" }
  /// The requests so far, as text.
  var requests: [String] { received.withLock { $0 } }

  struct CannotListen: Error {}

  /// Answers the connections in the order of the replies, one request each, and closes them. `isDeaf` makes a server
  /// that never accepts and has no room for connections that wait.
  init(replies: [String], isDeaf: Bool = false) throws {
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (descriptor, isListening) = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        (
          listener,
          bind(listener, $0, length) == 0 && listen(listener, isDeaf ? 0 : 16) == 0
            && getsockname(listener, $0, &length) == 0
        )
      }
    }
    guard isListening else { throw CannotListen() }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [weak self] in
      for reply in replies {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        let request = Self.readRequest(connection)
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

  // Up to the end of the body that Content-Length announces.
  private static func readRequest(_ connection: CInt) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isComplete(bytes) {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isComplete(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return false }
    let length = text.range(of: "Content-Length: ").flatMap { range in
      Int(text[range.upperBound...].utf8.prefix { $0 != 13 }.map { String(UnicodeScalar($0)) }.joined())
    }
    return text[end.upperBound...].utf8.count >= length ?? 0
  }
}
