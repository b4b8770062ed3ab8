// ResponseSequence: parses the responses to several requests on one connection, without I/O.

import LupineEngine

/// Parses the bytes that a server sends on one connection as a sequence of responses, with the limits of `Limits`.
struct ResponseSequence: ~Copyable {
  /// The maximum number of responses that are parsed: 16. No probe sends more than three requests.
  static let responsesMax = 16
  /// The maximum number of bytes of a body that are kept, to find a marker in them: 64 KiB.
  static let keptBodyBytesMax = 64 * 1024

  struct Response: Equatable {
    var status: Int
    /// The head as received, and the first bytes of the body.
    var bytes: [UInt8]

    func contains(_ marker: String) -> Bool { !marker.isEmpty && bytes.firstRange(of: Array(marker.utf8)) != nil }
  }

  /// The complete responses so far.
  private(set) var responses: [Response] = []
  /// The reason why the received bytes aren't responses, or nil.
  private(set) var failure: String?
  /// The number of received bytes that belong to no complete response.
  private(set) var leftByteCount = 0
  private let method: String
  private var connection = ClientConnection(limits: Limits())
  private var isInResponse = false
  private var current = Response(status: 0, bytes: [])

  /// Creates the parser of the responses to requests with this method, of which only HEAD and CONNECT matter.
  init(method: String) { self.method = method }

  /// Parses further bytes.
  mutating func receive(_ bytes: [UInt8]) {
    leftByteCount += bytes.count
    var cursor = 0
    do throws(WireError) {
      while failure == nil, cursor < bytes.count || (isInResponse && connection.hasPendingEnd) {
        begin()
        if try step(bytes, at: &cursor) { leftByteCount = bytes.count - cursor }
      }
    } catch {
      failure = error.description
    }
  }

  /// Handles the end of the server's bytes, which may end the last response.
  mutating func receiveEnd() {
    guard isInResponse, failure == nil else { return }
    do throws(WireError) {
      if case .end = try connection.receiveEnd() {
        end()
        leftByteCount = 0
      }
    } catch {
      failure = error.description
    }
  }

  private mutating func begin() {
    guard !isInResponse else { return }
    guard responses.count < Self.responsesMax else {
      failure = "the server sent more than \(Self.responsesMax) responses"
      return
    }
    connection = ClientConnection(limits: Limits())
    connection.start(method: method, closes: false)
    connection.requestSent()
    current = Response(status: 0, bytes: [])
    isInResponse = true
  }

  /// Parses the next event. Returns whether a response is complete.
  private mutating func step(_ bytes: [UInt8], at cursor: inout Int) throws(WireError) -> Bool {
    guard failure == nil else { return false }
    switch try connection.receive(bytes.span, at: &cursor) {
    case .needMoreBytes, .informational: break
    case .head(let head, _, _): current = Response(status: head.status, bytes: head.rawBytes)
    case .body(let range): current.bytes += bytes[range].prefix(max(0, Self.keptBodyBytesMax - current.bytes.count))
    case .end:
      end()
      return true
    case .handedOver(let head):
      current = Response(status: head.status, bytes: head.rawBytes)
      end()
      return true
    }
    return false
  }

  private mutating func end() {
    responses.append(current)
    isInResponse = false
  }
}

/// The responses that a server sent on one connection, and how the connection ended.
struct Conversation: Equatable {
  enum Ending: Equatable {
    /// The server closed or reset the connection.
    case closed
    /// The server sent nothing more in time, and kept the connection open.
    case open
    /// The received bytes aren't responses, or the last one is incomplete. The associated text is the reason.
    case malformed(String)
    /// The connection couldn't be opened. The associated text is the reason.
    case unreachable(String)
  }

  var responses: [ResponseSequence.Response]
  var ending: Ending
  /// The number of received bytes that belong to no complete response.
  var leftByteCount = 0
  /// All received bytes.
  var bytes: [UInt8] = []
}
