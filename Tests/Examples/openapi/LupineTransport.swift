// LupineTransport: sends the requests of clients that swift-openapi-generator has generated. Copy this file into your program, and
// enable Lupine's trait HTTPTypes.

import HTTPTypes
import LupineEngine
import LupineHTTPTypes
import OpenAPIRuntime

import struct Foundation.URL

/// A transport of swift-openapi-runtime on one of Lupine's engines. Bodies are streamed in both directions.
public struct LupineTransport: ClientTransport {
  private let engine: Engine
  private let timeouts: Timeouts

  /// Creates a transport. The time limits apply to each request.
  public init(_ engine: Engine, timeouts: Timeouts = Timeouts()) {
    self.engine = engine
    self.timeouts = timeouts
  }

  /// Sends a request, whose path is relative to the path of `baseURL`, and returns when the response's head has arrived.
  public func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?) {
    let base = try URI(baseURL.absoluteString)
    let prefix = base.target.prefix { $0 != "?" }
    var request = request
    request.scheme = base.origin.scheme.rawValue
    request.authority = base.origin.authority
    request.path = String(prefix.hasSuffix("/") ? prefix.dropLast() : prefix) + (request.path ?? "/")
    let (response, content) = try await engine.execute(
      request, body: body.map(Self.requestBody) ?? RequestBody(), timeouts: timeouts)
    if request.method == .head || [204, 304].contains(response.status.code) { return (response, nil) }
    // The engine decodes content codings, so Content-Length may be another length.
    return (response, HTTPBody(content.map { $0[...] }, length: .unknown, iterationBehavior: .single))
  }

  private static func requestBody(_ body: HTTPBody) -> RequestBody {
    var count: UInt64?
    if case .known(let length) = body.length { count = UInt64(length) }
    return RequestBody(byteCount: count, isReplayable: body.iterationBehavior == .multiple) { writer in
      for try await chunk in body { try await writer.write(Array(chunk)) }
    }
  }
}
