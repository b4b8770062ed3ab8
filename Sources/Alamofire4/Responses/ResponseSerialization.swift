// Serializers: convert the body of a response to a value.

public import Foundation
public import LupineURLSession

/// A type that serializes the response bodies of data requests and uploads.
public protocol DataResponseSerializerProtocol<SerializedObject> {
  /// The type of the value that the serializer creates.
  associatedtype SerializedObject
  /// A closure that returns the serialized response body, or an error. It receives the `URLRequest`, the response head, the body
  /// and the request's error.
  var serializeResponse: (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<SerializedObject> { get }
}

/// A serializer that serializes the response body of a data request or an upload with a closure.
public struct DataResponseSerializer<Value>: DataResponseSerializerProtocol {
  /// The type of the value that the serializer creates.
  public typealias SerializedObject = Value

  /// A closure that returns the serialized response body, or an error. It receives the `URLRequest`, the response head, the body
  /// and the request's error.
  public var serializeResponse: (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>

  /// Creates a serializer that calls a closure to serialize the response body.
  public init(
    serializeResponse: @escaping (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>
  ) {
    self.serializeResponse = serializeResponse
  }
}

/// A type that serializes the downloaded files of downloads.
public protocol DownloadResponseSerializerProtocol<SerializedObject> {
  /// The type of the value that the serializer creates.
  associatedtype SerializedObject
  /// A closure that returns the serialized file, or an error. It receives the `URLRequest`, the response head, the URL of the
  /// downloaded file and the request's error.
  var serializeResponse: (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<SerializedObject> { get }
}

/// A serializer that serializes a downloaded file with a closure.
public struct DownloadResponseSerializer<Value>: DownloadResponseSerializerProtocol {
  /// The type of the value that the serializer creates.
  public typealias SerializedObject = Value

  /// A closure that returns the serialized file, or an error. It receives the `URLRequest`, the response head, the URL of the
  /// downloaded file and the request's error.
  public var serializeResponse: (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>

  /// Creates a serializer that calls a closure to serialize the downloaded file.
  public init(
    serializeResponse: @escaping (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>
  ) {
    self.serializeResponse = serializeResponse
  }
}
