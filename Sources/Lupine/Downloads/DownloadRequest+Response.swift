// The response handlers of downloads.

public import Foundation

extension DownloadRequest {
  /// Adds a handler that receives the URL of the downloaded file, or nil if there is none.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - completionHandler: Called once, after the last attempt.
  @preconcurrency
  @discardableResult
  public func response(
    queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
  ) -> Self {
    append { [unowned self] in
      let fileURL = fileURL
      let response = makeResponse(error.map { .failure($0) } ?? .success(fileURL), fileURL, duration: 0)
      monitors?.request(self, didParseResponse: response)
      // Nothing is serialized, so there is no failure to retry.
      return SerializedResponse(error: nil) { [self] _ in deliver(response, on: queue, to: completionHandler) }
    }
    return self
  }

  /// Adds a handler that receives the value that `responseSerializer` creates from the downloaded file.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - responseSerializer: Serializes the file's content. Called on the request's serialization queue.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Adds a handler that receives the value that `responseSerializer` creates from the downloaded file.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - responseSerializer: Serializes the file. Called on the request's serialization queue.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func response<Serializer: DownloadResponseSerializerProtocol>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Adds a handler that receives the value that `responseSerializer`, such as a ``JSONResponseSerializer``, creates from the
  /// downloaded file. This overload accepts a handler that takes an `AFDownloadResponse<Any>`.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (sending AFDownloadResponse<Any>) -> Void
  ) -> Self where Serializer.SerializedObject == any Sendable {
    serialize(with: responseSerializer, on: queue) { completionHandler($0.map { $0 as Any }) }
  }

  private func serialize<Serializer: DownloadResponseSerializerProtocol>(
    with serializer: Serializer, on queue: DispatchQueue,
    _ completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    append { [unowned self] in
      let response = serialize(with: serializer)
      monitors?.request(self, didParseResponse: response)
      return SerializedResponse(error: response.error) { [self] replacement in
        deliver(replacement.map { response.failing(with: $0) } ?? response, on: queue, to: completionHandler)
      }
    }
    return self
  }

  private func serialize<Serializer: DownloadResponseSerializerProtocol>(
    with serializer: Serializer
  ) -> AFDownloadResponse<Serializer.SerializedObject> {
    let (fileURL, error) = (fileURL, error)
    let (result, duration) = serialized {
      try serializer.serializeDownload(request: request, response: response, fileURL: fileURL, error: error)
    }
    return makeResponse(result, fileURL, duration: duration)
  }

  private func makeResponse<Value>(
    _ result: AFResult<Value>, _ fileURL: URL?, duration: TimeInterval
  ) -> AFDownloadResponse<Value> {
    DownloadResponse(
      request: request, response: response, fileURL: fileURL, resumeData: resumeData, metrics: metrics,
      serializationDuration: duration, result: result)
  }

  /// Adds a handler that receives the URL of the downloaded file, or an error if there is none.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responseURL(
    queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
  ) -> Self {
    response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
  }

  /// Adds a handler that receives the content of the downloaded file as `Data`. An empty file is an error, unless the status code
  /// or the request method allows empty content.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responseData(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDownloadResponse<Data>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Adds a handler that receives the content of the downloaded file as text.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - encoding: The encoding of the text. By default, the response's charset, or ISO Latin-1 if the response names none.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responseString(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDownloadResponse<String>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Adds a handler that receives the content of the downloaded file, decoded as a `Value`.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - decoder: Decodes the value. A `JSONDecoder` by default.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responseDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Adds a handler that receives the content of the downloaded file as untyped JSON. An empty file is an error, unless the status
  /// code or the request method allows empty content.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - options: The options for reading JSON.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @available(*, deprecated, message: "Use responseDecodable, which checks the body's structure.")
  @discardableResult
  public func responseJSON(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
    options: JSONSerialization.ReadingOptions = .allowFragments,
    completionHandler: @escaping @Sendable (sending AFDownloadResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: JSONResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods, options: options)
    ) { completionHandler($0.map { $0 as Any }) }
  }

  /// Adds a handler that receives the content of the downloaded file as a property list. An empty file is an error, unless the
  /// status code or the request method allows empty content.
  ///
  /// Alamofire 5 has no such handler. This method has the API of Alamofire 4's `responsePropertyList`.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - options: The options for reading property lists.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responsePropertyList(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
    options: PropertyListSerialization.ReadOptions = [],
    completionHandler: @escaping @Sendable (sending AFDownloadResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: PropertyListResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods, options: options)
    ) { completionHandler($0.map { $0 as Any }) }
  }
}
