// The one place that talks to the engine: it converts a URLRequest once, and follows a response to its end.

import Foundation
import LupineEngine
import Synchronization

/// A session's engine. It starts with the first request, since many sessions never send one.
final class EngineClient: Sendable {
  let settings: URLSessionConfiguration.Snapshot
  private let sessionFields: [HTTPHeader]
  private let engine = Mutex<Engine?>(nil)

  init(_ settings: URLSessionConfiguration.Snapshot) {
    self.settings = settings
    sessionFields = Array(settings.additionalHeaders ?? HTTPHeaders())
  }

  /// The redirects that are followed.
  let redirectRule = RedirectRule()

  /// Converts a request. Throws a `URLError` if its URL can't be requested.
  func convert(_ request: URLRequest) throws -> EngineRequest {
    guard let url = request.url else { throw URLError(.badURL) }
    let uri: URI
    do {
      uri = try URI(url.absoluteString)
    } catch {
      throw URLError(error, url: url)
    }
    var fields = Fields()
    for header in request.headers { fields.append(name: header.name, value: header.value) }
    for header in sessionFields where request.headers[header.name] == nil {
      fields.append(name: header.name, value: header.value)
    }
    let body = request.httpBody.map { RequestBody([UInt8]($0)) } ?? RequestBody()
    return EngineRequest(
      method: request.httpMethod ?? "GET", uri: uri, fields: fields, body: body,
      timeouts: Timeouts(
        everyPhase: Duration(timeout: request.explicitTimeoutInterval ?? settings.timeoutIntervalForRequest),
        total: Duration(timeout: settings.timeoutIntervalForResource)))
  }

  /// Hands a request to the engine. Throws a `URLError` if the engine can't be started.
  func submit(_ request: EngineRequest, to sink: any ResponseSink) throws -> ExchangeHandle {
    do {
      let engine = try engine.withLock { engine throws(SystemError) in
        if let engine { return engine }
        let started = try Engine(configuration: settings.engine)
        engine = started
        return started
      }
      return engine.submit(request, to: sink)
    } catch {
      throw URLError(error)
    }
  }
}

extension Duration {
  /// Seconds as Foundation counts them; what isn't a finite number above zero is no limit.
  fileprivate init?(timeout seconds: TimeInterval) {
    // A hundred years keeps far away from the clock's end.
    guard seconds > 0, seconds.isFinite else { return nil }
    self = .seconds(min(seconds, 100 * 365 * 24 * 60 * 60))
  }
}
