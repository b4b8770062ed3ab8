// DataRequest: a request that keeps its response body in memory.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the superclass is. The added state is constant or protected by the Mutex.
/// A request that passes its response body to handlers as `Data`, text or a decoded value.
///
/// Create one with a `request` method of ``Session``.
public class DataRequest: Request, @unchecked Sendable {
  /// A closure that accepts or rejects a response. Called on the request's underlying queue with the request, the response head and
  /// the body, which is nil if it is empty.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

  /// The value from which each attempt of the request creates its `URLRequest`.
  public let convertible: any URLRequestConvertible

  private struct Received {
    var body = CollectedBody()
    var validations: [Validation] = []
  }

  private let received = Mutex(Received())

  init(
    _ convertible: any URLRequestConvertible, session: borrowing Session, shouldAutomaticallyResume: Bool?
  ) {
    self.convertible = convertible
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// The part of the response body received so far, or nil if it is empty.
  public var data: Data? {
    let data = received.withLock { $0.body.data }
    return data.isEmpty ? nil : data
  }

  override var keptBody: Data? { data }

  override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    session.dataTask(with: request)
  }

  override func reset() {
    super.reset()
    received.withLock { $0.body = CollectedBody() }
  }

  override func refusal(of response: URLResponse, to task: URLSessionDataTask, in session: URLSession) -> URLError? {
    session.collectedBodyLimit?.refusal(of: response, to: task.currentRequest)
  }

  override func didReceive(_ data: Data, from task: URLSessionDataTask, in session: URLSession) {
    let limit = session.collectedBodyLimit
    let (count, excess) = received.withLock { received -> (Int64, CollectedBodyLimit?) in
      let excess = received.body.append(data, within: limit)
      return (Int64(received.body.data.count), excess)
    }
    if let excess {
      didFail(task, earlyWith: .sessionTaskFailed(error: excess.excess(at: task.currentRequest?.url)))
      return task.cancel()
    }
    guard count > 0 else { return }
    didReceive(count, of: task.countOfBytesExpectedToReceive)
  }

  // MARK: The response head

  /// Adds a handler that decides, after the response head has arrived, whether to continue with the response or to cancel the
  /// request.
  ///
  /// - Parameters:
  ///   - queue: The queue on which `handler` is called. The main queue by default.
  ///   - handler: Receives the response and a completion handler. The body isn't read before the completion handler is called.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func onHTTPResponse(
    on queue: DispatchQueue = .main,
    perform handler:
      @escaping @Sendable (
        _ response: HTTPURLResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
      ) -> Void
  ) -> Self {
    set(\.responseDecision, to: ResponseDecision(queue: queue, decide: handler))
    didAdd(.responseDecision)
    return self
  }

  /// Calls `handler` on `queue` when the response head has arrived. The body isn't read before `handler` has returned.
  @preconcurrency
  @discardableResult
  public func onHTTPResponse(
    on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
  ) -> Self {
    onHTTPResponse(on: queue) { response, completionHandler in
      handler(response)
      completionHandler(.allow)
    }
  }

  // MARK: Validation

  /// Adds a closure that accepts or rejects the response. After the end of the body, the closures added to this request run in
  /// order on the underlying queue, until one of them rejects the response.
  ///
  /// A rejected response fails with the validation's error, unless a retrier decides to retry the request:
  ///
  /// ```swift
  /// AF.request("https://example.org/items").validate { _, response, _ in
  ///   response.value(forHTTPHeaderField: "X-Api") == "2" ? .success(()) : .failure(WrongVersion())
  /// }
  /// ```
  @preconcurrency
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    received.withLock { $0.validations.append(validation) }
    didAdd(.validations)
    return self
  }

  override func validateResponse(_ response: HTTPURLResponse) -> AFError? {
    let validations = received.withLock { $0.validations }
    let (request, data, monitors) = (request, data, monitors)
    return refusal(of: validations) { validation in
      let result = validation(request, response, data)
      monitors?.request(self, didValidateRequest: request, response: response, data: data, withResult: result)
      return result
    }
  }

  // MARK: Responses

  /// Adds a handler that receives the response body as `Data` without serializing it, or nil if the body is empty.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - completionHandler: Called once, after the last attempt.
  @preconcurrency
  @discardableResult
  public func response(
    queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
  ) -> Self {
    append { [unowned self] in
      let data = data
      let result: AFResult<Data?> = error.map { .failure($0) } ?? .success(data)
      let response = DataResponse(
        request: request, response: response, data: data, metrics: metrics, serializationDuration: 0, result: result)
      monitors?.request(self, didParseResponse: response)
      // Nothing is serialized, so there is no failure to retry.
      return SerializedResponse(error: nil) { [self] _ in deliver(response, on: queue, to: completionHandler) }
    }
    return self
  }

  /// Adds a handler that receives the value that `responseSerializer` creates from the response body.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - responseSerializer: Serializes the body. Called on the request's serialization queue.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Adds a handler that receives the value that `responseSerializer` creates from the response body.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - responseSerializer: Serializes the body. Called on the request's serialization queue.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func response<Serializer: DataResponseSerializerProtocol>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Adds a handler that receives the value that `responseSerializer`, such as a ``JSONResponseSerializer``, creates from the
  /// response body. This overload accepts a handler that takes an `AFDataResponse<Any>`.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (sending AFDataResponse<Any>) -> Void
  ) -> Self where Serializer.SerializedObject == any Sendable {
    serialize(with: responseSerializer, on: queue) { completionHandler($0.map { $0 as Any }) }
  }

  private func serialize<Serializer: DataResponseSerializerProtocol>(
    with serializer: Serializer, on queue: DispatchQueue,
    _ completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    append { [unowned self] in
      let response = serialize(with: serializer)
      return SerializedResponse(error: response.error) { [self] replacement in
        if let replacement {
          deliver(response.failing(with: replacement), on: queue, to: completionHandler)
        } else {
          deliver(response, on: queue, to: completionHandler)
        }
      }
    }
    return self
  }

  /// Serializes the response, and notifies the monitors. Called on the serialization queue.
  func serialize<Serializer: DataResponseSerializerProtocol>(
    with serializer: Serializer
  ) -> AFDataResponse<Serializer.SerializedObject> {
    let (response, monitors) = serializedResponse(with: serializer)
    monitors?.request(self, didParseResponse: response)
    return response
  }

  // Inlining is disabled, because the response's parts would then be copied for the monitors, even if there are none.
  @inline(never)
  private func serializedResponse<Serializer: DataResponseSerializerProtocol>(
    with serializer: Serializer
  ) -> (AFDataResponse<Serializer.SerializedObject>, CompositeEventMonitor?) {
    // Read together, because each property would take the lock separately.
    let (request, task, metrics, error, monitors) = mutableState.withLock { state in
      (state.requests.last, state.tasks.last, state.metrics.last, state.error, state.listeningMonitors)
    }
    let (httpResponse, data) = (task?.httpResponse, data)
    let (result, duration) = serialized {
      try serializer.serialize(request: request, response: httpResponse, data: data, error: error)
    }
    let response = DataResponse(
      request: request, response: httpResponse, data: data, metrics: metrics, serializationDuration: duration,
      result: result)
    return (response, monitors)
  }

  /// Adds a handler that receives the response body as `Data`.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the body before it is serialized.
  ///   - emptyResponseCodes: The status codes that allow an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow an empty body. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt. An empty body is an error
  ///     unless the status code or the method allows it.
  @preconcurrency
  @discardableResult
  public func responseData(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDataResponse<Data>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: DataResponseSerializer.shared(dataPreprocessor, emptyResponseCodes, emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Adds a handler that receives the response body as text.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the body before it is decoded.
  ///   - encoding: The encoding of the text. By default, the response's charset, or ISO Latin-1 if the response names none.
  ///   - emptyResponseCodes: The status codes that allow an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow an empty body. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt. An empty body is an error
  ///     unless the status code or the method allows it.
  @preconcurrency
  @discardableResult
  public func responseString(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDataResponse<String>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Adds a handler that receives the response body decoded as a `Value`.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the body before it is decoded.
  ///   - decoder: Decodes the value. A `JSONDecoder` by default.
  ///   - emptyResponseCodes: The status codes that allow an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow an empty body. `HEAD` by default.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responseDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }
}
