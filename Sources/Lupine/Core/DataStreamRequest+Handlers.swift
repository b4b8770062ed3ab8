// The ways to get a stream's pieces: handlers for bytes, text and values, and an InputStream.

public import Foundation

extension DataStreamRequest {
  /// Calls `stream` on `queue` with each piece of the body as it is, then with the end.
  @preconcurrency
  @discardableResult
  public func responseStream(on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>) -> Self {
    handleData(on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with what `serializer` makes of each piece of the body, then with the end.
  @preconcurrency
  @discardableResult
  public func responseStream<Serializer: DataStreamSerializer>(
    using serializer: Serializer, on queue: DispatchQueue = .main,
    stream: @escaping Handler<Serializer.SerializedObject, AFError>
  ) -> Self {
    handle(using: serializer, on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with each piece of the body as text, read as UTF-8, then with the end.
  ///
  /// A character whose bytes came in two pieces belongs to the later one. What isn't UTF-8 is U+FFFD.
  @preconcurrency
  @discardableResult
  public func responseStreamString(on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>) -> Self {
    handleStrings(on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with each piece of the body decoded as a `T`, then with the end.
  @preconcurrency
  @discardableResult
  public func responseStreamDecodable<T: Decodable & Sendable>(
    of type: T.Type = T.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
    preprocessor: any DataPreprocessor = PassthroughPreprocessor(), stream: @escaping Handler<T, AFError>
  ) -> Self {
    responseStream(
      using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue, stream: stream)
  }

  /// Resumes the request and returns its body as a stream, which is to be opened, read and closed by the caller.
  ///
  /// `read` blocks until there are bytes; it returns 0 at the end, and -1 if the request has failed. A reader that stops
  /// reading holds the server back. Closing the stream before its end, or letting go of it, cancels the request. Run loops
  /// and delegates aren't served.
  ///
  /// - Parameter bufferSize: how many bytes may wait for the reader besides the `EngineConfiguration.windowBytes` that may
  ///   wait for every handler.
  public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
    let feed = ResponseFeed(spareByteCount: bufferSize)
    add(feed)
    append { [unowned self] in
      SerializedResponse(error: nil) { [unowned self] _ in feed.end(error) }
    }
    resume()
    return ResponseInputStream(feed, of: self)
  }

  // MARK: The same with the pieces, for those who hold them

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
        self, on: queue, isSerialized: true, aligner: (serializer as? any AlignedStreamSerializer)?.aligner,
        serialize: { data in
          do {
            return .success(try serializer.serialize(data))
          } catch {
            return .failure(
              error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
          }
        }, receive: receive))
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
