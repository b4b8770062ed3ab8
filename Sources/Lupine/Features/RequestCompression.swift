// Compresses the bodies of requests.

public import Foundation
public import LupineURLSession

/// An adapter that sends bodies with the content coding `deflate`: the zlib format (RFC 9110 §8.4.1.2, RFC 1950).
///
/// Not every server decodes what it gets, and none says so before: use it where that is known.
public struct DeflateRequestCompressor: RequestInterceptor {
  /// What to do with a request that has a Content-Encoding field already.
  public enum DuplicateHeaderBehavior: Sendable {
    /// It fails with ``DuplicateHeaderError``.
    case error
    /// Its body is compressed, and the field replaced by `deflate`.
    case replace
    /// It stays as it is.
    case skip
  }

  /// The request has a Content-Encoding field already, so its body may be compressed.
  public struct DuplicateHeaderError: Error, Sendable {}

  /// What to do with a request that has a Content-Encoding field already.
  public let duplicateHeaderBehavior: DuplicateHeaderBehavior
  /// Says for each body whether to compress it; called on an internal queue.
  public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

  /// A compressor; by default it compresses every body, and fails if that seems to have happened already.
  @preconcurrency
  public init(
    duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
    shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
  ) {
    self.duplicateHeaderBehavior = duplicateHeaderBehavior
    self.shouldCompressBodyData = shouldCompressBodyData
  }

  /// Answers at once with the request and its `httpBody` compressed, or as it is if it has none or isn't to be
  /// compressed.
  ///
  /// Fails with ``DuplicateHeaderError``, or for want of memory.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    completion(Result { try compressing(urlRequest) })
  }

  private func compressing(_ request: URLRequest) throws -> URLRequest {
    guard let body = request.httpBody, shouldCompressBodyData(body) else { return request }
    if request.headers["Content-Encoding"] != nil {
      switch duplicateHeaderBehavior {
      case .error: throw DuplicateHeaderError()
      case .skip: return request
      case .replace: break
      }
    }
    var compressed = request
    compressed.httpBody = try body.deflated()
    compressed.headers.update(.contentEncoding("deflate"))
    return compressed
  }
}

extension DeflateRequestCompressor.DuplicateHeaderError: LocalizedError {
  /// What happened and what to do about it.
  public var errorDescription: String? {
    """
    The request's body was not compressed, for its Content-Encoding field says that this has happened. Remove the \
    field, or choose .replace or .skip as the compressor's duplicateHeaderBehavior.
    """
  }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
  /// A compressor with all defaults.
  public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

  /// A compressor; for the parameters see ``DeflateRequestCompressor``.
  @preconcurrency
  public static func deflateCompressor(
    duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
    shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
  ) -> DeflateRequestCompressor {
    DeflateRequestCompressor(
      duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
  }
}
