// Sessions and servers for one test, and functions for their requests.

import Foundation
import LupineEngine
import LupineOrigin

@testable import Lupine
@testable import LupineURLSession

/// Calls `body` with a new session, and retains the session until `body` returns.
///
/// Requests have a timeout of 100 s unless `configure` changes it. That's longer than a sanitizer can delay a test, and
/// shorter than the tests' time limit.
func withSession<Value>(
  startRequestsImmediately: Bool = true, eventMonitors: [any EventMonitor] = [AlamofireNotifications()],
  _ configure: (URLSessionConfiguration) -> Void = { _ in }, _ body: (Session) async throws -> Value
) async throws -> Value {
  let configuration = URLSessionConfiguration.af.ephemeral
  configuration.timeoutIntervalForRequest = 100
  configure(configuration)
  let session = Session(
    configuration: configuration, startRequestsImmediately: startRequestsImmediately, eventMonitors: eventMonitors)
  defer { withExtendedLifetime(session) {} }
  return try await body(session)
}

/// Calls `body` with a server that runs `handler` for each connection, and then stops the server.
func withOrigin<Value>(
  tls: ServerIdentity? = nil, address: String = "127.0.0.1", _ handler: @escaping @Sendable (Peer) throws -> Void,
  _ body: (OriginServer) async throws -> Value
) async throws -> Value {
  let origin = try OriginServer(tls: tls, address: address, handler: handler)
  defer { origin.stop() }
  return try await body(origin)
}

/// Calls `body` with a server that sends endless response bodies, at most 64 KiB per ms. Only the body for `/short` ends, after
/// one byte.
func withEndlessServer<Value>(_ body: (OriginServer) async throws -> Value) async throws -> Value {
  try await withOrigin { peer in
    guard let request = try peer.readRequest() else { return }
    if request.path == "/short" { return try peer.respond(fields: ["Connection": "close"], body: [1]) }
    try peer.beginChunked()
    let bytes = Pattern.bytes(0..<65_536)
    while true {
      try peer.chunk(bytes)
      try peer.pause(for: .milliseconds(1))
    }
  } _: { origin in
    try await body(origin)
  }
}

/// Calls `body` with a server that answers each request with the result of `reply`, and then stops the server.
func withServer<Value>(
  tls: ServerIdentity? = nil, address: String = "127.0.0.1",
  _ reply: @escaping @Sendable (ReceivedRequest) throws -> Reply,
  _ body: (OriginServer) async throws -> Value
) async throws -> Value {
  try await withOrigin(tls: tls, address: address, { try $0.serve(reply) }, body)
}

extension Session {
  /// The requests of the session that haven't finished.
  var running: Set<Request> {
    get async {
      await firstValue { withAllRequests(perform: $0) }
    }
  }
}

extension DataRequest {
  /// Waits for the response, and returns the body as text.
  func text() async throws -> String { try await serializingString().value }
}

/// The JSON with which httpbin's /anything describes the request that it has received.
struct Anything: Decodable, Sendable, Equatable {
  var method: String
  var url: String
  var args: [String: String]
  var form: [String: String]
  var headers: [String: String]
  var data: String
}
