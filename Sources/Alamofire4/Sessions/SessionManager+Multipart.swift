// SessionManager's encoding of multipart forms in the background.

import Dispatch
import Foundation
import Lupine
import LupineURLSession

extension SessionManager {
  /// Encodes a form in the background, uploads it, and passes the result to `completion`.
  func encode(
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
