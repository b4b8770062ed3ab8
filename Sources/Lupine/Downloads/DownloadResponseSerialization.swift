// `DownloadResponseSerializerProtocol`: serializes a body that was downloaded to a file.

public import Foundation
public import LupineURLSession

/// A serializer that converts a downloaded file to a value.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
  /// The type of the value that the serializer creates.
  associatedtype SerializedObject: Sendable

  /// Returns the value that this serializer creates from a downloaded file.
  ///
  /// - Parameters:
  ///   - request: The last request sent, or nil if no request could be created.
  ///   - response: The server's response, or nil if none was received.
  ///   - fileURL: The URL of the downloaded file, or nil if there is no file.
  ///   - error: The request's error, or nil. A serializer that can't recover from the error should throw it.
  func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
  /// Reads the file into memory, and returns the value that `serialize(request:response:data:error:)` creates from its content.
  ///
  /// - Throws: `error` if it isn't nil; `AFError.responseSerializationFailed` with `.inputFileNil` if there is no file, or with
  ///   `.inputFileReadFailed` if the file can't be read; or the serializer's error.
  public func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> SerializedObject {
    if let error { throw error }
    guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
    let data: Data
    do {
      // Data(contentsOf:) isn't used, because it leaks its buffer each time that a file is empty.
      data = try FileHandle(forReadingFrom: fileURL).readToEnd() ?? Data()
    } catch {
      throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
    }
    return try serialize(request: request, response: response, data: data, error: nil)
  }
}

/// A serializer that returns the URL of the downloaded file, without reading the file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
  /// Creates a serializer that returns the URL of the downloaded file.
  public init() {}

  /// Returns `fileURL`, the URL of the downloaded file.
  ///
  /// - Throws: `error` if it isn't nil, or `AFError.responseSerializationFailed` with `.inputFileNil` if there is no file.
  public func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> URL {
    if let error { throw error }
    guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
    return fileURL
  }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
  /// A serializer that returns the URL of the downloaded file.
  public static var url: URLResponseSerializer { URLResponseSerializer() }
}
