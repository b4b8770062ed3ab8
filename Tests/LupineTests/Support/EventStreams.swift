// A scripted server of event streams, and functions for tests of them.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// A scripted server of event streams.
struct EventServer {
  /// Answers a request. The connection is closed afterward.
  typealias Script = @Sendable (Peer) throws -> Void

  /// The requests that the server has received.
  final class Requests: Sendable {
    fileprivate let all = Mutex<[ReceivedRequest]>([])

    /// Records a request, and returns the number of earlier ones.
    fileprivate func note(_ request: ReceivedRequest) -> Int {
      all.withLock { all in
        all.append(request)
        return all.count - 1
      }
    }
  }

  let url: String
  fileprivate let log: Requests

  /// The requests received so far.
  var requests: [ReceivedRequest] { log.all.withLock { $0 } }
}

extension Peer {
  /// Begins the response of an event stream, and sends the parts of its body.
  func events(_ parts: String..., type: String = "text/event-stream") throws {
    try beginChunked(fields: ["Content-Type": type, "Connection": "close"])
    for part in parts { try chunk(part) }
  }

  /// Sends parts of an event stream, and ends the response.
  func allEvents(_ text: String) throws {
    try events(text)
    try endChunked()
  }

  /// Ends an event stream with the status code 204.
  func noContent() throws { try respond(status: 204, fields: ["Connection": "close"]) }
}

/// Calls `body` with a server that answers the first request with `script`, and all others with 204.
func withEventServer<Value>(
  _ script: @escaping EventServer.Script, body: (EventServer) async throws -> Value
) async throws -> Value {
  try await withEventServer([script], body: body)
}

/// Calls `body` with a server that answers each request with the next script, and all others with 204.
func withEventServer<Value>(
  _ scripts: [EventServer.Script], body: (EventServer) async throws -> Value
) async throws -> Value {
  let log = EventServer.Requests()
  return try await withOrigin { peer in
    guard let request = try peer.readRequest() else { return }
    let index = log.note(request)
    if index < scripts.count { try scripts[index](peer) } else { try peer.noContent() }
    // The script may have reset the connection.
    peer.finishSending()
    _ = try? peer.awaitClose()
  } _: { origin in
    try await body(EventServer(url: origin.url, log: log))
  }
}

extension EventStreamOptions {
  /// Options that reconnect at once.
  static var quick: EventStreamOptions {
    var options = EventStreamOptions()
    (options.retryDelay, options.retryDelayMin, options.retryDelayMax) = (.zero, .zero, .milliseconds(1))
    return options
  }

  func with(_ change: (inout EventStreamOptions) -> Void) -> EventStreamOptions {
    var options = self
    change(&options)
    return options
  }
}

extension DataStreamRequest {
  /// The events of the stream, and the request's error, after the request has ended.
  func allEvents() async -> (events: [ServerSentEvent], error: AFError?) {
    var events: [ServerSentEvent] = []
    do throws(AFError) {
      for try await event in streamTask().streamingEvents() { events.append(event) }
      return (events, nil)
    } catch {
      return (events, error)
    }
  }
}

extension AFError {
  /// The interruption of an event stream, if this is its error.
  var interruption: EventStreamInterruption? { underlyingError as? EventStreamInterruption }
  /// The exceeded limit of an event stream or of a line, if this is its error.
  var exceededLimit: EventStreamError? { underlyingError as? EventStreamError }
}
