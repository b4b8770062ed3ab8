// SessionManager's uploads of multipart forms, which are encoded in the background.

public import Dispatch
import Foundation
import Lupine
import LupineURLSession

extension SessionManager {
  /// Encodes a multipart form in the background, and uploads it to a URL.
  ///
  /// - Parameters:
  ///   - multipartFormData: A closure that appends the parts to the form.
  ///   - encodingMemoryThreshold: The size in bytes from which the form is encoded to a file instead of in memory. A background
  ///     session always uses a file. The file is removed when the upload has completed.
  ///   - url: The URL to which the form is uploaded.
  ///   - method: The request's method.
  ///   - headers: The request's header fields.
  ///   - queue: The queue on which `encodingCompletion` is called; the main queue by default.
  ///   - encodingCompletion: Called with the upload, or with the error if the form can't be encoded.
  public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil, queue: DispatchQueue? = nil,
    encodingCompletion: ((MultipartFormDataEncodingResult) -> Void)?
  ) {
    encode(multipartFormData, encodingMemoryThreshold, queue, encodingCompletion) {
      try URLRequest(url: url, method: method, headers: headers)
    }
  }

  /// Encodes a multipart form in the background, and uploads it with a `URLRequest`.
  ///
  /// - Parameters:
  ///   - multipartFormData: A closure that appends the parts to the form.
  ///   - encodingMemoryThreshold: The size in bytes from which the form is encoded to a file instead of in memory. A background
  ///     session always uses a file. The file is removed when the upload has completed.
  ///   - urlRequest: The request, whose Content-Type is replaced.
  ///   - queue: The queue on which `encodingCompletion` is called; the main queue by default.
  ///   - encodingCompletion: Called with the upload, or with the error if the form can't be encoded.
  public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    with urlRequest: any URLRequestConvertible, queue: DispatchQueue? = nil,
    encodingCompletion: ((MultipartFormDataEncodingResult) -> Void)?
  ) {
    encode(multipartFormData, encodingMemoryThreshold, queue, encodingCompletion) { try urlRequest.asURLRequest() }
  }

  private func encode(
    _ fill: @escaping (MultipartFormData) -> Void, _ memoryThreshold: UInt64, _ queue: DispatchQueue?,
    _ completion: ((MultipartFormDataEncodingResult) -> Void)?, _ makeRequest: @escaping () throws -> URLRequest
  ) {
    DispatchQueue.global(qos: .utility).perform { [self] in
      let form = MultipartFormData()
      fill(form)
      let result: MultipartFormDataEncodingResult
      do {
        var request = try makeRequest()
        request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
        result = try upload(form, with: request, memoryThreshold)
      } catch {
        result = .failure(error)
      }
      guard let completion else { return }
      (queue ?? .main).perform { completion(result) }
    }
  }

  private func upload(
    _ form: MultipartFormData, with request: URLRequest, _ memoryThreshold: UInt64
  ) throws -> MultipartFormDataEncodingResult {
    // Background sessions upload only files.
    if form.contentLength < memoryThreshold, session.configuration.identifier == nil {
      return .success(request: upload(try form.encode(), with: request), streamingFromDisk: false, streamFileURL: nil)
    }
    let file = try MultipartFolder.make(.default).appendingPathComponent(UUID().uuidString)
    try form.writeEncodedData(to: file)
    let upload = upload(file, with: request)
    upload.taskDelegate.queue.perform { try? FileManager.default.removeItem(at: file) }
    return .success(request: upload, streamingFromDisk: true, streamFileURL: file)
  }
}
