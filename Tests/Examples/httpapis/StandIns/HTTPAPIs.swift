// HTTPAPIs: the protocol of swift-http-api-proposal 0.2 that the conformance implements.

@_exported public import AsyncStreaming
@_exported public import HTTPTypes

/// The capabilities of clients.
public enum HTTPClientCapability {
  /// The settings of one request.
  public protocol RequestOptions {}
}

/// The body of a request.
public struct HTTPClientRequestBody<Writer: CallerAsyncWriter & ~Copyable>: Sendable
where Writer: SendableMetatype, Writer.WriteElement == UInt8, Writer.FinalElement == HTTPFields? {
  /// The number of bytes, if it is known.
  public let knownLength: Int64?
  private let write: @Sendable (consuming sending Writer) async throws -> Void

  /// A body that can be written again.
  public static func restartable(
    knownLength: Int64? = nil, _ write: @escaping @Sendable (consuming sending Writer) async throws -> Void
  ) -> Self {
    Self(knownLength: knownLength, write: write)
  }

  /// Writes the body.
  public func produce(into writer: consuming sending Writer) async throws { try await write(writer) }
}

/// A client.
public protocol HTTPClient<RequestOptions>: Sendable, ~Copyable, ~Escapable {
  associatedtype RequestOptions: HTTPClientCapability.RequestOptions
  associatedtype Writer: CallerAsyncWriter, ~Copyable, SendableMetatype
  where Writer.WriteElement == UInt8, Writer.FinalElement == HTTPFields?
  associatedtype Reader: AsyncReader, ~Copyable, SendableMetatype
  where Reader.ReadElement == UInt8, Reader.FinalElement == HTTPFields?

  var defaultRequestOptions: RequestOptions { get }

  mutating func perform<Return: ~Copyable>(
    request: HTTPRequest, body: consuming HTTPClientRequestBody<Writer>?, options: RequestOptions,
    responseHandler: (HTTPResponse, consuming Reader) async throws -> Return
  ) async throws -> Return
}
