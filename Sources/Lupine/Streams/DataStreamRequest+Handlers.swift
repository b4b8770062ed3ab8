// DataStreamRequest+Handlers: the handlers for bytes, text and decoded values, and the body as an InputStream.

public import Foundation

extension DataStreamRequest {
  /// A closure that is called with each piece of the response body, and at the end with the completion. If the closure throws an
  /// error, the request is cancelled and fails with that error.
  public typealias Handler<Success, Failure: Error> =
    @Sendable (_ stream: Stream<Success, Failure>) throws -> Void

  /// Calls `stream` on `queue` with each piece of the response body as it arrives, and at the end with the completion.
  @preconcurrency
  @discardableResult
  public func responseStream(on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>) -> Self {
    handleData(on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with the value that `serializer` creates from each piece of the response body, and at the end with
  /// the completion.
  @preconcurrency
  @discardableResult
  public func responseStream<Serializer: DataStreamSerializer>(
    using serializer: Serializer, on queue: DispatchQueue = .main,
    stream: @escaping Handler<Serializer.SerializedObject, AFError>
  ) -> Self {
    handle(using: serializer, on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with each piece of the response body as UTF-8 text, and at the end with the completion.
  ///
  /// A character whose bytes are split between two pieces is delivered with the later piece. Invalid UTF-8 becomes U+FFFD.
  @preconcurrency
  @discardableResult
  public func responseStreamString(on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>) -> Self {
    handleStrings(on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with each piece of the response body decoded as a `T`, and at the end with the completion.
  @preconcurrency
  @discardableResult
  public func responseStreamDecodable<T: Decodable & Sendable>(
    of type: T.Type = T.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
    preprocessor: any DataPreprocessor = PassthroughPreprocessor(), stream: @escaping Handler<T, AFError>
  ) -> Self {
    responseStream(
      using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue, stream: stream)
  }

  /// Resumes the request and returns its response body as a stream. The caller opens, reads and closes the stream.
  ///
  /// The stream's `read` blocks until bytes arrive. It returns 0 at the end of the body, and -1 if the request has failed. If the
  /// caller stops reading, the server has to wait (backpressure). Closing or releasing the stream before its end cancels the
  /// request. Run loops and stream delegates aren't supported.
  ///
  /// - Parameter bufferSize: The number of bytes buffered for the reader, in addition to the `EngineConfiguration.windowBytes`
  ///   that are buffered for any handler.
  public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
    let feed = ResponseFeed(spareByteCount: bufferSize)
    add(feed)
    append { [unowned self] in
      SerializedResponse(error: nil) { [unowned self] _ in feed.end(error) }
    }
    resume()
    return ResponseInputStream(feed, of: self)
  }

  // MARK: Handlers that retain the pieces

  @discardableResult
  func handleData(on queue: DispatchQueue, receive: @escaping StreamHandler<Data, Never>.Receive) -> Self {
    add(
      StreamHandler(
        self, on: queue, isSerialized: false, aligner: nil, serialize: { .success($0) }, receive: receive))
  }

  @discardableResult
  func handleStrings(on queue: DispatchQueue, receive: @escaping StreamHandler<String, Never>.Receive) -> Self {
    add(
      StreamHandler(
        self, on: queue, isSerialized: true, aligner: UTF8Aligner(),
        serialize: { .success(String(decoding: $0, as: UTF8.self)) }, receive: receive))
  }

  @discardableResult
  func handle<Serializer: DataStreamSerializer>(
    using serializer: Serializer, on queue: DispatchQueue,
    receive: @escaping StreamHandler<Serializer.SerializedObject, AFError>.Receive
  ) -> Self {
    add(
      StreamHandler(
        self, on: queue, isSerialized: true, aligner: serializer is StringStreamSerializer ? UTF8Aligner() : nil,
        serialize: { [queues] data in
          do {
            return .success(try queues.decoding { try serializer.serialize(data) })
          } catch {
            return .failure(error.asSerializationFailure)
          }
        }, receive: receive))
  }

  /// Adds a handler that receives each element of the body, and at the end the completion. An element that can't be decoded is a failure.
  @discardableResult
  func handleElements<Element: Sendable>(
    _ reader: StreamReader<Element>, on queue: DispatchQueue,
    receive: @escaping StreamHandler<Element, AFError>.Receive
  ) -> Self {
    add(
      StreamHandler<StreamBatch<Element>, AFError>(
        self, on: queue, isSerialized: true, aligner: reader.end,
        serialize: { [queues] data in .success(queues.decoding { reader.read(data) }) },
        receive: { [unowned self] stream, piece in
          switch stream.event {
          case .complete(let completion):
            try receive(Stream(event: .complete(completion), token: stream.token), piece)
          case .stream(let result):
            let batch = try result.get()
            for element in batch.elements {
              // The handler may have cancelled the request.
              guard !isCancelled else { return }
              try receive(Stream(event: .stream(element), token: stream.token), piece)
              if case .failure = element, automaticallyCancelOnStreamError { cancel() }
            }
            if let failure = batch.failure { throw failure }
          }
        }))
  }

  private func add<Success, Failure>(_ handler: StreamHandler<Success, Failure>) -> Self {
    add(handler as any StreamConsumer)
    append { [unowned self] in
      SerializedResponse(error: nil) { [unowned self] _ in
        handler.complete(Completion(request: request, response: response, metrics: metrics, error: error))
      }
    }
    return self
  }
}
