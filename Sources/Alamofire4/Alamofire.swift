// The module's functions, which create requests of the default session manager.

public import Foundation
// Programs for Alamofire 4 get URLSession's types with Foundation on Apple's systems.
@_exported public import LupineURLSession

/// Creates a data request from a URL, a method, parameters and header fields. Uses ``SessionManager/default``.
@discardableResult
public func request(
  _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
  encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
) -> DataRequest {
  SessionManager.default.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers)
}

/// Creates a data request from a `URLRequest`. Uses ``SessionManager/default``.
@discardableResult
public func request(_ urlRequest: any URLRequestConvertible) -> DataRequest {
  SessionManager.default.request(urlRequest)
}

/// Creates a download from a URL, a method, parameters and header fields. Uses ``SessionManager/default``.
@discardableResult
public func download(
  _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
  encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
  to destination: DownloadRequest.DownloadFileDestination? = nil
) -> DownloadRequest {
  SessionManager.default.download(
    url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
}

/// Creates a download from a `URLRequest`. Uses ``SessionManager/default``.
@discardableResult
public func download(
  _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.DownloadFileDestination? = nil
) -> DownloadRequest {
  SessionManager.default.download(urlRequest, to: destination)
}

/// Creates a download that resumes a cancelled or failed download. Uses ``SessionManager/default``.
@discardableResult
public func download(
  resumingWith resumeData: Data, to destination: DownloadRequest.DownloadFileDestination? = nil
) -> DownloadRequest {
  SessionManager.default.download(resumingWith: resumeData, to: destination)
}

/// Creates a request that opens a TCP connection. Uses ``SessionManager/default``.
@discardableResult
public func stream(withHostName hostName: String, port: Int) -> StreamRequest {
  SessionManager.default.stream(withHostName: hostName, port: port)
}

/// Creates an upload of a file to a URL. Uses ``SessionManager/default``.
@discardableResult
public func upload(
  _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
) -> UploadRequest {
  SessionManager.default.upload(fileURL, to: url, method: method, headers: headers)
}

/// Creates an upload of a file with a `URLRequest`. Uses ``SessionManager/default``.
@discardableResult
public func upload(_ fileURL: URL, with urlRequest: any URLRequestConvertible) -> UploadRequest {
  SessionManager.default.upload(fileURL, with: urlRequest)
}

/// Creates an upload of data to a URL. Uses ``SessionManager/default``.
@discardableResult
public func upload(
  _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
) -> UploadRequest {
  SessionManager.default.upload(data, to: url, method: method, headers: headers)
}

/// Creates an upload of data with a `URLRequest`. Uses ``SessionManager/default``.
@discardableResult
public func upload(_ data: Data, with urlRequest: any URLRequestConvertible) -> UploadRequest {
  SessionManager.default.upload(data, with: urlRequest)
}

/// Creates an upload of a stream to a URL. Uses ``SessionManager/default``.
@discardableResult
public func upload(
  _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
) -> UploadRequest {
  SessionManager.default.upload(stream, to: url, method: method, headers: headers)
}

/// Creates an upload of a stream with a `URLRequest`. Uses ``SessionManager/default``.
@discardableResult
public func upload(_ stream: InputStream, with urlRequest: any URLRequestConvertible) -> UploadRequest {
  SessionManager.default.upload(stream, with: urlRequest)
}

/// Encodes a multipart form in the background, and uploads it to a URL. Uses ``SessionManager/default``.
public func upload(
  multipartFormData: @escaping (MultipartFormData) -> Void,
  usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
  to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
  encodingCompletion: ((SessionManager.MultipartFormDataEncodingResult) -> Void)?
) {
  SessionManager.default.upload(
    multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, to: url, method: method,
    headers: headers, encodingCompletion: encodingCompletion)
}

/// Encodes a multipart form in the background, and uploads it with a `URLRequest`. Uses ``SessionManager/default``.
public func upload(
  multipartFormData: @escaping (MultipartFormData) -> Void,
  usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
  with urlRequest: any URLRequestConvertible,
  encodingCompletion: ((SessionManager.MultipartFormDataEncodingResult) -> Void)?
) {
  SessionManager.default.upload(
    multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, with: urlRequest,
    encodingCompletion: encodingCompletion)
}
