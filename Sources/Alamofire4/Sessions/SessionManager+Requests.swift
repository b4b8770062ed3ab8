// SessionManager's data requests and downloads.

public import Foundation
import LupineURLSession

extension SessionManager {
  // MARK: Data requests

  /// Creates a data request from a URL, a method, parameters and header fields.
  @discardableResult
  public func request(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
  ) -> DataRequest {
    startData {
      try encoding.encode(try URLRequest(url: url, method: method, headers: headers), with: parameters)
    }
  }

  /// Creates a data request from a `URLRequest`.
  @discardableResult
  public func request(_ urlRequest: any URLRequestConvertible) -> DataRequest {
    startData { try urlRequest.asURLRequest() }
  }

  private func startData(_ make: () throws -> URLRequest) -> DataRequest {
    start {
      .data(try make())
    } _: { source, task, error in
      DataRequest(session: session, source: source, task: task, error: error)
    }
  }

  // MARK: Downloads

  /// Creates a download from a URL, a method, parameters and header fields.
  @discardableResult
  public func download(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    startDownload(to: destination) {
      .download(try encoding.encode(try URLRequest(url: url, method: method, headers: headers), with: parameters))
    }
  }

  /// Creates a download from a `URLRequest`.
  @discardableResult
  public func download(
    _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    startDownload(to: destination) { .download(try urlRequest.asURLRequest()) }
  }

  /// Creates a download that resumes a cancelled or failed download. The adapter isn't called.
  @discardableResult
  public func download(
    resumingWith resumeData: Data, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    startDownload(to: destination) { .resumedDownload(resumeData) }
  }

  private func startDownload(
    to destination: DownloadRequest.DownloadFileDestination?, _ make: () throws -> TaskSource
  ) -> DownloadRequest {
    start(make) { source, task, error in
      DownloadRequest(session: session, source: source, task: task, destination: destination, error: error)
    }
  }
}
