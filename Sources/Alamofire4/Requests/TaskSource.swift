// TaskSource: the source from which a request's task is created for each attempt.

import Foundation
import LupineURLSession

/// A URL request with its body, from which a request creates its tasks.
enum TaskSource {
  enum Body {
    case data(Data)
    case file(URL)
    case stream(InputStream)
  }

  case data(URLRequest)
  case download(URLRequest)
  case resumedDownload(Data)
  case upload(Body, URLRequest)

  /// The `URLRequest` before the adapter has changed it.
  var request: URLRequest? {
    switch self {
    case .data(let request), .download(let request), .upload(_, let request): request
    case .resumedDownload: nil
    }
  }

  /// Whether the body still exists, so that a task can send it.
  var hasBody: Bool {
    if case .upload(.file(let url), _) = self { FileManager.default.fileExists(atPath: url.path) } else { true }
  }

  /// Adapts the request with `adapt` and creates a task from it.
  func makeTask(
    in session: URLSession, adapting adapt: (URLRequest) throws -> URLRequest
  ) throws(AdaptationError) -> URLSessionTask {
    func adapted(_ request: URLRequest) throws(AdaptationError) -> URLRequest {
      do {
        return try adapt(request)
      } catch {
        throw AdaptationError(cause: error)
      }
    }
    return switch self {
    case .data(let request): session.dataTask(with: try adapted(request))
    case .download(let request): session.downloadTask(with: try adapted(request))
    case .resumedDownload(let data): session.downloadTask(withResumeData: data)
    case .upload(.data(let data), let request): session.uploadTask(with: try adapted(request), from: data)
    case .upload(.file(let url), let request): session.uploadTask(with: try adapted(request), fromFile: url)
    case .upload(.stream, let request): session.uploadTask(withStreamedRequest: try adapted(request))
    }
  }
}

/// The error that an adapter has thrown.
struct AdaptationError: Error {
  let cause: any Error
}
