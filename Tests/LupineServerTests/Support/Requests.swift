// Requests: functions that send a request to a test server and return the response or the error.

import LupineEngine
import LupineTestSupport
import Testing

extension Engine {
  /// Sends a request to a server and collects the response.
  func collect(
    _ server: Server, _ path: String, method: String = "GET", fields: Fields = Fields(),
    body: RequestBody = RequestBody(), redirects: RedirectRule? = nil, edit: (inout EngineRequest) -> Void = { _ in }
  ) async throws -> CollectedResponse {
    var request = EngineRequest(method: method, uri: try await server.uri(path), fields: fields, body: body)
    edit(&request)
    return try await collect(request, redirects: redirects)
  }

  /// Sends a request that must fail, and returns its error.
  func failure(
    _ server: Server, _ path: String, method: String = "GET", fields: Fields = Fields(),
    body: RequestBody = RequestBody(), redirects: RedirectRule? = nil, edit: (inout EngineRequest) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> EngineError {
    var request = EngineRequest(method: method, uri: try await server.uri(path), fields: fields, body: body)
    edit(&request)
    return try await failure(request, redirects: redirects, sourceLocation: sourceLocation)
  }

  /// Sends a request that must fail, and returns its error.
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

  /// Returns the first value of a field.
  func field(_ name: String) -> String? { head.fields.first(name) }

  /// The metrics of the last request, which received this response.
  var metric: ExchangeMetrics {
    get throws { try #require(metrics.last) }
  }
}

/// The content of the servers' page text.txt.
enum TextPage {
  static let bytes = Array(text.utf8)
  static let text = (1...3000).map { "line \($0): lupins fix nitrogen\n" }.joined()
}
