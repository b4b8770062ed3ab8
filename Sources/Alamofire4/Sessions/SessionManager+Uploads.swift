// SessionManager's uploads of files, data and streams.

public import Foundation
import LupineURLSession

extension SessionManager {
  /// Creates an upload of a file to a URL.
  @discardableResult
  public func upload(
    _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(.file(fileURL)) { try URLRequest(url: url, method: method, headers: headers) }
  }

  /// Creates an upload of a file with a `URLRequest`.
  @discardableResult
  public func upload(_ fileURL: URL, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload(.file(fileURL)) { try urlRequest.asURLRequest() }
  }

  /// Creates an upload of data to a URL.
  @discardableResult
  public func upload(
    _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(.data(data)) { try URLRequest(url: url, method: method, headers: headers) }
  }

  /// Creates an upload of data with a `URLRequest`.
  @discardableResult
  public func upload(_ data: Data, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload(.data(data)) { try urlRequest.asURLRequest() }
  }

  /// Creates an upload of a stream to a URL. The stream can be read only once.
  @discardableResult
  public func upload(
    _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(.stream(stream)) { try URLRequest(url: url, method: method, headers: headers) }
  }

  /// Creates an upload of a stream with a `URLRequest`. The stream can be read only once.
  @discardableResult
  public func upload(_ stream: InputStream, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload(.stream(stream)) { try urlRequest.asURLRequest() }
  }

  private func startUpload(_ body: TaskSource.Body, _ make: () throws -> URLRequest) -> UploadRequest {
    start {
      .upload(body, try make())
    } _: { source, task, error in
      UploadRequest(session: session, source: source, task: task, error: error)
    }
  }
}
