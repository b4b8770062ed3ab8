// What turns a body that was written to a file into a value.

public import Foundation
public import LupineURLSession

/// Turns a file with a response's body into a value.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
  /// What the serializer makes.
  associatedtype SerializedObject: Sendable

  /// Makes a value of the file, or throws why there is none.
  ///
  /// - Parameters:
  ///   - request: the request that was sent last, `nil` if none could be built.
  ///   - response: the server's response, `nil` if none arrived.
  ///   - fileURL: the file with the body, `nil` if there is none.
  ///   - error: what failed before; a serializer that has nothing to make of it throws it again.
  func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
  /// Returns what `serialize(request:response:data:error:)` makes of the file's content, which is read into memory.
  ///
  /// - Throws: `error`; `AFError.responseSerializationFailed` with `.inputFileNil` without a file, with
  ///   `.inputFileReadFailed` if it can't be read; and what the serializer throws.
  public func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> SerializedObject {
    if let error { throw error }
    guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
    let data: Data
    do {
      // Not Data(contentsOf:), which loses its buffer each time that a file is empty.
      data = try FileHandle(forReadingFrom: fileURL).readToEnd() ?? Data()
    } catch {
      throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
    }
    return try serialize(request: request, response: response, data: data, error: nil)
  }
}

/// Hands the file's URL over, and leaves the file as it is.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
  /// Makes a serializer.
  public init() {}

  /// Returns `fileURL`.
  ///
  /// - Throws: `error`, or `AFError.responseSerializationFailed` with `.inputFileNil` without a file.
  public func serializeDownload(
    request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
  ) throws -> URL {
    if let error { throw error }
    guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
    return fileURL
  }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
  /// Hands the file's URL over.
  public static var url: URLResponseSerializer { URLResponseSerializer() }
}
