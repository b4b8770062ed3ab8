// Requests: functions that send a request to a test server and return the response or the error.

import LupineEngine
import LupineTestSupport
import Testing

extension Engine {
  /// Sends a request for `path` to a test server, and returns the response with its complete body.
  func collect(
    _ server: Server, _ path: String, method: String = "GET", fields: Fields = Fields(),
    body: RequestBody = RequestBody(), redirects: RedirectRule? = nil, edit: (inout EngineRequest) -> Void = { _ in }
  ) async throws -> CollectedResponse {
    var request = EngineRequest(method: method, uri: try await server.uri(path), fields: fields, body: body)
    edit(&request)
    return try await collect(request, redirects: redirects)
  }

  /// Sends a request for `path` to a test server, and returns its error. The test fails if the request succeeds.
  func failure(
    _ server: Server, _ path: String, method: String = "GET", fields: Fields = Fields(),
    body: RequestBody = RequestBody(), redirects: RedirectRule? = nil, edit: (inout EngineRequest) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> EngineError {
    var request = EngineRequest(method: method, uri: try await server.uri(path), fields: fields, body: body)
    edit(&request)
    return try await failure(request, redirects: redirects, sourceLocation: sourceLocation)
  }

  /// Sends the request, and returns its error. The test fails if the request succeeds.
  func failure(
    _ request: EngineRequest, redirects: RedirectRule? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> EngineError {
    let result: Result<CollectedResponse, EngineError>
    do {
      result = .success(try await collect(request, redirects: redirects))
    } catch {
      result = .failure(error)
    }
    return try #require(result.failure, "\(request.uri) responded instead of failing", sourceLocation: sourceLocation)
  }
}

extension CollectedResponse {
  var status: Int { head.status }
  var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the first value of the response's field with this name.
  func field(_ name: String) -> String? { head.fields.first(name) }

  /// The metrics of the last request, which received this response.
  var metric: ExchangeMetrics {
    get throws { try #require(metrics.last) }
  }
}

/// The expected content of the page /text.txt of the test servers.
enum TextPage {
  static let bytes = Array(text.utf8)
  static let text = (1...3000).map { "line \($0): lupins fix nitrogen\n" }.joined()
}
