// Alamofire: the module's names, qualified as programs for Alamofire 4 write them.

public import Foundation
import LupineURLSession

/// The module's functions and types under the module name that programs for Alamofire 4 write, as in
/// `Alamofire.request(…)`.
public enum Alamofire {
  /// The module's `AFError`.
  public typealias AFError = Alamofire4.AFError
  /// The module's `DataRequest`.
  public typealias DataRequest = Alamofire4.DataRequest
  /// The module's `DataResponseSerializerProtocol`.
  public typealias DataResponseSerializerProtocol = Alamofire4.DataResponseSerializerProtocol
  /// The module's `DefaultDataResponse`.
  public typealias DefaultDataResponse = Alamofire4.DefaultDataResponse
  /// The module's `DefaultDownloadResponse`.
  public typealias DefaultDownloadResponse = Alamofire4.DefaultDownloadResponse
  /// The module's `DownloadRequest`.
  public typealias DownloadRequest = Alamofire4.DownloadRequest
  /// The module's `DownloadResponseSerializerProtocol`.
  public typealias DownloadResponseSerializerProtocol = Alamofire4.DownloadResponseSerializerProtocol
  /// The module's `HTTPHeaders`.
  public typealias HTTPHeaders = Alamofire4.HTTPHeaders
  /// The module's `HTTPMethod`.
  public typealias HTTPMethod = Alamofire4.HTTPMethod
  /// The module's `JSONEncoding`.
  public typealias JSONEncoding = Alamofire4.JSONEncoding
  /// The module's `MultipartFormData`.
  public typealias MultipartFormData = Alamofire4.MultipartFormData
  /// The module's `NetworkReachabilityManager`.
  public typealias NetworkReachabilityManager = Alamofire4.NetworkReachabilityManager
  /// The module's `ParameterEncoding`.
  public typealias ParameterEncoding = Alamofire4.ParameterEncoding
  /// The module's `Parameters`.
  public typealias Parameters = Alamofire4.Parameters
  /// The module's `PropertyListEncoding`.
  public typealias PropertyListEncoding = Alamofire4.PropertyListEncoding
  /// The module's `Request`.
  public typealias Request = Alamofire4.Request
  /// The module's `RequestAdapter`.
  public typealias RequestAdapter = Alamofire4.RequestAdapter
  /// The module's `RequestRetrier`.
  public typealias RequestRetrier = Alamofire4.RequestRetrier
  /// The module's `RequestRetryCompletion`.
  public typealias RequestRetryCompletion = Alamofire4.RequestRetryCompletion
  /// The module's `ServerTrustPolicy`.
  public typealias ServerTrustPolicy = Alamofire4.ServerTrustPolicy
  /// The module's `ServerTrustPolicyManager`.
  public typealias ServerTrustPolicyManager = Alamofire4.ServerTrustPolicyManager
  /// The module's `SessionDelegate`.
  public typealias SessionDelegate = Alamofire4.SessionDelegate
  /// The module's `SessionManager`.
  public typealias SessionManager = Alamofire4.SessionManager
  /// The module's `TaskDelegate`.
  public typealias TaskDelegate = Alamofire4.TaskDelegate
  /// The module's `Timeline`.
  public typealias Timeline = Alamofire4.Timeline
  /// The module's `URLConvertible`.
  public typealias URLConvertible = Alamofire4.URLConvertible
  /// The module's `URLEncoding`.
  public typealias URLEncoding = Alamofire4.URLEncoding
  /// The module's `URLRequestConvertible`.
  public typealias URLRequestConvertible = Alamofire4.URLRequestConvertible
  /// The module's `UploadRequest`.
  public typealias UploadRequest = Alamofire4.UploadRequest
  /// The module's `Result`.
  public typealias Result = Alamofire4.Result
  /// The module's `DataResponse`.
  public typealias DataResponse = Alamofire4.DataResponse
  /// The module's `DownloadResponse`.
  public typealias DownloadResponse = Alamofire4.DownloadResponse
  /// The module's `DataResponseSerializer`.
  public typealias DataResponseSerializer = Alamofire4.DataResponseSerializer
  /// The module's `DownloadResponseSerializer`.
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

  /// Creates a download that continues a cancelled or failed download. Uses ``SessionManager/default``.
  @discardableResult
  public static func download(
    resumingWith resumeData: Data, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    SessionManager.default.download(resumingWith: resumeData, to: destination)
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
