// Engine+HTTPClient: the engine as an HTTPClient, the protocol of swift-http-api-proposal. Untried: it needs Swift 6.4, and follows the
// published sources of the releases 0.2 of the proposal and 1.1.5 of swift-async-algorithms.

#if HTTPAPIs && compiler(>=6.4)
  public import AsyncStreaming
  public import BasicContainers
  public import ContainersPreview
  public import HTTPAPIs
  public import HTTPTypes
  public import LupineEngine
  internal import LupineHTTPTypes

  extension Engine: HTTPClient {
    /// The settings of one request.
    public struct RequestOptions: HTTPClientCapability.RequestOptions, Sendable {
      /// The time limits.
      public var timeouts = Timeouts()
      /// The rule by which redirects are followed, or nil to follow none.
      public var redirects: RedirectRule? = RedirectRule()

      /// Creates the default settings.
      public init() {}
    }

    /// The default settings, with which redirects are followed.
    public var defaultRequestOptions: RequestOptions { RequestOptions() }

    /// Sends a request, and passes the response and a reader of its body to `responseHandler`, while the body is sent.
    ///
    /// The body may end with the fields that are named in the request's Trailer field (RFC 9110 §6.6.2). The response is valid during
    /// the call of `responseHandler` only.
    ///
    /// - Throws: An `HTTPTypesError` if the request can't be sent, an `EngineError` if there is no response, or the error of
    ///   `responseHandler`.
    public func perform<Return: ~Copyable>(
      request: HTTPRequest, body: consuming HTTPClientRequestBody<Writer>?, options: RequestOptions,
      responseHandler: (HTTPResponse, consuming Reader) async throws -> Return
    ) async throws -> Return {
      var converted = try EngineRequest(request)
      converted.timeouts = options.timeouts
      // The engine announces the trailers of a body itself.
      converted.fields.remove("Trailer")
      let trailerNames = (request.headerFields[.trailer] ?? "").split { ", \t".contains($0) }.map { String($0) }
      // The engine asks for no other offset than 0, so a seekable body is like any other.
      let streamed = body.map { body in
        StreamingBody.restartable(
          byteCount: body.knownLength.flatMap { UInt64(exactly: $0) }, trailerNames: trailerNames
        ) { writer in try await body.produce(into: Writer(writer)) }
      }
      return try await execute(converted, body: streamed, redirects: options.redirects) { head, reader in
        try await responseHandler(HTTPResponse(head), Reader(reader))
      }
    }

    /// Writes the body of a request, no faster than the engine sends it.
    public struct Writer: CallerAsyncWriter, ~Copyable {
      /// A byte of the body.
      public typealias WriteElement = UInt8
      /// `CancellationError`, `WireError` or `HTTPTypesError`.
      public typealias WriteFailure = any Error
      /// The fields after the body, or nil for none.
      public typealias FinalElement = HTTPFields?

      private var writer: StreamingBodyWriter

      init(_ writer: consuming StreamingBodyWriter) { self.writer = writer }

      /// Writes the bytes in `buffer` and empties it. Throws `CancellationError` if the engine needs no more of the body.
      public mutating func write<Buffer: RangeReplaceableContainer<UInt8> & ~Copyable>(
        buffer: inout Buffer
      ) async throws(any Error) where Buffer.Element: ~Copyable {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(buffer.count)
        var drain = buffer.consumeAll()
        var isEmpty = false
        while !isEmpty {
          let part = drain.drainNext()
          isEmpty = part.isEmpty
          for index in part.span.indices { bytes.append(part.span[index]) }
        }
        if !bytes.isEmpty { try await writer.write(bytes) }
      }

      /// Writes the bytes in `buffer`, and ends the body with these fields. Throws an error also if the request's Trailer field
      /// doesn't name one of them.
      public consuming func finish<Buffer: RangeReplaceableContainer<UInt8> & ~Copyable>(
        buffer: inout Buffer, finalElement: consuming HTTPFields?
      ) async throws(any Error) where Buffer.Element: ~Copyable {
        try await write(buffer: &buffer)
        try writer.finish(Fields(finalElement ?? HTTPFields()))
      }
    }

    /// Reads the body of a response.
    public struct Reader: AsyncReader, ~Copyable {
      /// A byte of the body.
      public typealias ReadElement = UInt8
      /// `EngineError` or `HTTPTypesError`.
      public typealias ReadFailure = any Error
      /// The bytes that have been received, but not taken from the buffer.
      public typealias Buffer = UniqueArray<UInt8>
      /// The fields of the trailer section, or nil for none.
      public typealias FinalElement = HTTPFields?

      private var reader: StreamingBodyReader
      // The next call returns the bytes that `body` hasn't taken.
      private var buffer = UniqueArray<UInt8>()

      init(_ reader: consuming StreamingBodyReader) { self.reader = reader }

      /// Passes the next piece to `body`, or at the end of the body the fields of the trailer section, if there are any.
      public mutating func read<Return: ~Copyable, Failure: Error>(
        body: (inout UniqueArray<UInt8>, consuming HTTPFields??) async throws(Failure) -> Return
      ) async throws(EitherError<any Error, Failure>) -> Return {
        var end: HTTPFields?? = .none
        do {
          if let piece = try await reader.read() {
            buffer.append(copying: piece.span)
          } else {
            let trailers = try HTTPFields(reader.trailers ?? Fields())
            end = .some(trailers.isEmpty ? nil : trailers)
          }
        } catch {
          throw .first(error)
        }
        do {
          return try await body(&buffer, end)
        } catch {
          throw .second(error)
        }
      }
    }
  }
#endif
