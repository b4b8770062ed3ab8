// Serializers: convert the body of a response to a value.

public import Foundation
public import LupineURLSession

/// A type that serializes the bodies of data requests and uploads.
public protocol DataResponseSerializerProtocol<SerializedObject> {
  /// The type of the serialized body.
  associatedtype SerializedObject
  /// A closure that receives the request, the response's head, the body and the request's error. Returns the serialized body or
  /// an error.
  var serializeResponse: (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<SerializedObject> { get }
}

/// A serializer that converts the body of a data request or upload with a closure.
public struct DataResponseSerializer<Value>: DataResponseSerializerProtocol {
  /// The type of the serialized body.
  public typealias SerializedObject = Value

  /// A closure that receives the request, the response's head, the body and the request's error. Returns the serialized body or
  /// an error.
  public var serializeResponse: (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>

  /// Creates a serializer from a closure.
  public init(
    serializeResponse: @escaping (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>
  ) {
    self.serializeResponse = serializeResponse
  }
}

/// A type that serializes the files of downloads.
public protocol DownloadResponseSerializerProtocol<SerializedObject> {
  /// The type of the serialized file.
  associatedtype SerializedObject
  /// A closure that receives the request, the response's head, the file and the request's error. Returns the serialized file or
  /// an error.
  var serializeResponse: (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<SerializedObject> { get }
}

/// A serializer that converts a downloaded file with a closure.
public struct DownloadResponseSerializer<Value>: DownloadResponseSerializerProtocol {
  /// The type of the serialized file.
  public typealias SerializedObject = Value

  /// A closure that receives the request, the response's head, the file and the request's error. Returns the serialized file or
  /// an error.
  public var serializeResponse: (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>

  /// Creates a serializer from a closure.
  public init(
    serializeResponse: @escaping (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>
  ) {
    self.serializeResponse = serializeResponse
  }
}
