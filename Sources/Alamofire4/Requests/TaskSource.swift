// TaskSource: the source from which a request's task is created for each attempt.

import Foundation
import LupineURLSession

/// The `URLRequest` and the body, or the resume data, from which each attempt of a request creates its task.
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
  case stream(hostName: String, port: Int)

  /// The `URLRequest` before adaptation, or nil for a stream and for a download that resumes an earlier one.
  var request: URLRequest? {
    switch self {
    case .data(let request), .download(let request), .upload(_, let request): request
    case .resumedDownload, .stream: nil
    }
  }

  /// Whether the request body still exists, so that another task can send it.
  var hasBody: Bool {
    if case .upload(.file(let url), _) = self { FileManager.default.fileExists(atPath: url.path) } else { true }
  }

  /// Creates a task from the `URLRequest` that `adapt` returns.
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
    case .stream(let hostName, let port): session.streamTask(withHostName: hostName, port: port)
    case .upload(.stream, let request): session.uploadTask(withStreamedRequest: try adapted(request))
    }
  }
}

struct AdaptationError: Error {
  let cause: any Error
}
