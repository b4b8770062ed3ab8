// `DeflateRequestCompressor`: compresses the bodies of requests.

public import Foundation
import LupineEngine
public import LupineURLSession

/// An adapter that compresses request bodies with the content coding `deflate`, the zlib format (RFC 9110 §8.4.1.2, RFC 1950).
///
/// Use it only for servers that are known to decode compressed request bodies. Many servers don't, and servers don't announce
/// whether they do.
public struct DeflateRequestCompressor: RequestInterceptor {
  /// The action for a request that already has a Content-Encoding field.
  public enum DuplicateHeaderBehavior: Sendable {
    /// The request fails with ``DuplicateHeaderError``.
    case error
    /// The body is compressed, and the field's value is replaced with `deflate`.
    case replace
    /// The request is sent unchanged.
    case skip
  }

  /// The error for a request with a Content-Encoding field, whose body may already be compressed.
  public struct DuplicateHeaderError: Error, Sendable {}

  /// The action for a request that already has a Content-Encoding field. By default, the request fails.
  public let duplicateHeaderBehavior: DuplicateHeaderBehavior
  /// A closure that returns whether to compress a request body. Always true by default. Called on an internal queue.
  public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

  /// Creates a compressor. By default, it compresses every body, and fails requests that already have a Content-Encoding field.
  @preconcurrency
  public init(
    duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
    shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
  ) {
    self.duplicateHeaderBehavior = duplicateHeaderBehavior
    self.shouldCompressBodyData = shouldCompressBodyData
  }

  /// Calls `completion` synchronously with the request, whose `httpBody` has been compressed. The request is unchanged if it has no
  /// body or if ``shouldCompressBodyData`` returns false.
  ///
  /// The result is a failure if memory is exhausted, or, with the behavior `.error`, if the request already has a Content-Encoding
  /// field (``DuplicateHeaderError``).
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
    compressed.httpBody = Data(try ContentEncoder.encode([UInt8](body), as: .deflate))
    compressed.headers.update(.contentEncoding("deflate"))
    return compressed
  }
}

extension DeflateRequestCompressor.DuplicateHeaderError: LocalizedError {
  /// A description of the failure and of a remedy, in English.
  public var errorDescription: String? {
    """
    The request's body was not compressed because the request has a Content-Encoding field, so the body may already be \
    compressed. Remove the field, or pass .replace or .skip as the compressor's duplicateHeaderBehavior.
    """
  }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
  /// A compressor with the default settings.
  public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

  /// A compressor with the given settings; see ``DeflateRequestCompressor``.
  @preconcurrency
  public static func deflateCompressor(
    duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
    shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
  ) -> DeflateRequestCompressor {
    DeflateRequestCompressor(
      duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
  }
}
