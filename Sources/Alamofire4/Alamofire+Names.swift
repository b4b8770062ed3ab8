// Alamofire: the module's names, qualified as programs for Alamofire 4 write them.

public import Foundation
import LupineURLSession

/// Provides the module's functions and types under the name that programs for Alamofire 4 write, as in `Alamofire.request(…)`.
public enum Alamofire {
  /// The top-level type `AFError`, for programs that write `Alamofire.AFError`.
  public typealias AFError = Alamofire4.AFError
  /// The top-level type `DataRequest`, for programs that write `Alamofire.DataRequest`.
  public typealias DataRequest = Alamofire4.DataRequest
  /// The top-level type `DataResponseSerializerProtocol`, for programs that write `Alamofire.DataResponseSerializerProtocol`.
  public typealias DataResponseSerializerProtocol = Alamofire4.DataResponseSerializerProtocol
  /// The top-level type `DefaultDataResponse`, for programs that write `Alamofire.DefaultDataResponse`.
  public typealias DefaultDataResponse = Alamofire4.DefaultDataResponse
  /// The top-level type `DefaultDownloadResponse`, for programs that write `Alamofire.DefaultDownloadResponse`.
  public typealias DefaultDownloadResponse = Alamofire4.DefaultDownloadResponse
  /// The top-level type `DownloadRequest`, for programs that write `Alamofire.DownloadRequest`.
  public typealias DownloadRequest = Alamofire4.DownloadRequest
  /// The top-level type `DownloadResponseSerializerProtocol`, for programs that write
  /// `Alamofire.DownloadResponseSerializerProtocol`.
  public typealias DownloadResponseSerializerProtocol = Alamofire4.DownloadResponseSerializerProtocol
  /// The top-level type `HTTPHeaders`, for programs that write `Alamofire.HTTPHeaders`.
  public typealias HTTPHeaders = Alamofire4.HTTPHeaders
  /// The top-level type `HTTPMethod`, for programs that write `Alamofire.HTTPMethod`.
  public typealias HTTPMethod = Alamofire4.HTTPMethod
  /// The top-level type `JSONEncoding`, for programs that write `Alamofire.JSONEncoding`.
  public typealias JSONEncoding = Alamofire4.JSONEncoding
  /// The top-level type `MultipartFormData`, for programs that write `Alamofire.MultipartFormData`.
  public typealias MultipartFormData = Alamofire4.MultipartFormData
  /// The top-level type `NetworkReachabilityManager`, for programs that write `Alamofire.NetworkReachabilityManager`.
  public typealias NetworkReachabilityManager = Alamofire4.NetworkReachabilityManager
  /// The top-level type `ParameterEncoding`, for programs that write `Alamofire.ParameterEncoding`.
  public typealias ParameterEncoding = Alamofire4.ParameterEncoding
  /// The top-level type `Parameters`, for programs that write `Alamofire.Parameters`.
  public typealias Parameters = Alamofire4.Parameters
  /// The top-level type `PropertyListEncoding`, for programs that write `Alamofire.PropertyListEncoding`.
  public typealias PropertyListEncoding = Alamofire4.PropertyListEncoding
  /// The top-level type `Request`, for programs that write `Alamofire.Request`.
  public typealias Request = Alamofire4.Request
  /// The top-level type `RequestAdapter`, for programs that write `Alamofire.RequestAdapter`.
  public typealias RequestAdapter = Alamofire4.RequestAdapter
  /// The top-level type `RequestRetrier`, for programs that write `Alamofire.RequestRetrier`.
  public typealias RequestRetrier = Alamofire4.RequestRetrier
  /// The top-level type `RequestRetryCompletion`, for programs that write `Alamofire.RequestRetryCompletion`.
  public typealias RequestRetryCompletion = Alamofire4.RequestRetryCompletion
  /// The top-level type `ServerTrustPolicy`, for programs that write `Alamofire.ServerTrustPolicy`.
  public typealias ServerTrustPolicy = Alamofire4.ServerTrustPolicy
  /// The top-level type `ServerTrustPolicyManager`, for programs that write `Alamofire.ServerTrustPolicyManager`.
  public typealias ServerTrustPolicyManager = Alamofire4.ServerTrustPolicyManager
  /// The top-level type `SessionDelegate`, for programs that write `Alamofire.SessionDelegate`.
  public typealias SessionDelegate = Alamofire4.SessionDelegate
  /// The top-level type `SessionManager`, for programs that write `Alamofire.SessionManager`.
  public typealias SessionManager = Alamofire4.SessionManager
  /// The top-level type `StreamRequest`, for programs that write `Alamofire.StreamRequest`.
  public typealias StreamRequest = Alamofire4.StreamRequest
  /// The top-level type `TaskDelegate`, for programs that write `Alamofire.TaskDelegate`.
  public typealias TaskDelegate = Alamofire4.TaskDelegate
  /// The top-level type `Timeline`, for programs that write `Alamofire.Timeline`.
  public typealias Timeline = Alamofire4.Timeline
  /// The top-level type `URLConvertible`, for programs that write `Alamofire.URLConvertible`.
  public typealias URLConvertible = Alamofire4.URLConvertible
  /// The top-level type `URLEncoding`, for programs that write `Alamofire.URLEncoding`.
  public typealias URLEncoding = Alamofire4.URLEncoding
  /// The top-level type `URLRequestConvertible`, for programs that write `Alamofire.URLRequestConvertible`.
  public typealias URLRequestConvertible = Alamofire4.URLRequestConvertible
  /// The top-level type `UploadRequest`, for programs that write `Alamofire.UploadRequest`.
  public typealias UploadRequest = Alamofire4.UploadRequest
  /// The top-level type `Result`, for programs that write `Alamofire.Result`.
  public typealias Result = Alamofire4.Result
  /// The top-level type `DataResponse`, for programs that write `Alamofire.DataResponse`.
  public typealias DataResponse = Alamofire4.DataResponse
  /// The top-level type `DownloadResponse`, for programs that write `Alamofire.DownloadResponse`.
  public typealias DownloadResponse = Alamofire4.DownloadResponse
  /// The top-level type `DataResponseSerializer`, for programs that write `Alamofire.DataResponseSerializer`.
  public typealias DataResponseSerializer = Alamofire4.DataResponseSerializer
  /// The top-level type `DownloadResponseSerializer`, for programs that write `Alamofire.DownloadResponseSerializer`.
  public typealias DownloadResponseSerializer = Alamofire4.DownloadResponseSerializer
}

extension Alamofire {
  /// Creates a data request from a URL, a method, parameters and header fields. Uses ``SessionManager/default``.
  @discardableResult
  public static func request(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
  ) -> DataRequest {
    SessionManager.default.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers)
  }

  /// Creates a data request from a `URLRequest`. Uses ``SessionManager/default``.
  @discardableResult
  public static func request(_ urlRequest: any URLRequestConvertible) -> DataRequest {
    SessionManager.default.request(urlRequest)
  }

  /// Creates a download from a URL, a method, parameters and header fields. Uses ``SessionManager/default``.
  @discardableResult
  public static func download(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    SessionManager.default.download(
      url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
  }

  /// Creates a download from a `URLRequest`. Uses ``SessionManager/default``.
  @discardableResult
  public static func download(
    _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    SessionManager.default.download(urlRequest, to: destination)
  }

  /// Creates a download that resumes a cancelled or failed download. Uses ``SessionManager/default``.
  @discardableResult
  public static func download(
    resumingWith resumeData: Data, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    SessionManager.default.download(resumingWith: resumeData, to: destination)
  }

  /// Creates a request that opens a TCP connection. Uses ``SessionManager/default``.
  @discardableResult
  public static func stream(withHostName hostName: String, port: Int) -> StreamRequest {
    SessionManager.default.stream(withHostName: hostName, port: port)
  }

  /// Creates an upload of a file to a URL. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(
    _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    SessionManager.default.upload(fileURL, to: url, method: method, headers: headers)
  }

  /// Creates an upload of a file with a `URLRequest`. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(_ fileURL: URL, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    SessionManager.default.upload(fileURL, with: urlRequest)
  }

  /// Creates an upload of data to a URL. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(
    _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    SessionManager.default.upload(data, to: url, method: method, headers: headers)
  }

  /// Creates an upload of data with a `URLRequest`. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(_ data: Data, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    SessionManager.default.upload(data, with: urlRequest)
  }

  /// Creates an upload of a stream to a URL. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(
    _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    SessionManager.default.upload(stream, to: url, method: method, headers: headers)
  }

  /// Creates an upload of a stream with a `URLRequest`. Uses ``SessionManager/default``.
  @discardableResult
  public static func upload(_ stream: InputStream, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    SessionManager.default.upload(stream, with: urlRequest)
  }

  /// Encodes a multipart form in the background, and uploads it to a URL. Uses ``SessionManager/default``.
  public static func upload(
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
  public static func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    with urlRequest: any URLRequestConvertible,
    encodingCompletion: ((SessionManager.MultipartFormDataEncodingResult) -> Void)?
  ) {
    SessionManager.default.upload(
      multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, with: urlRequest,
      encodingCompletion: encodingCompletion)
  }
}
