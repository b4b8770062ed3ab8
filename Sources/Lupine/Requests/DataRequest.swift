// A request whose response's body is kept in memory.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A request that hands its body over as `Data`, text or a decoded value.
public class DataRequest: Request, @unchecked Sendable {
  /// Looks at a response, and accepts or refuses it.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

  /// What the request is made of.
  public let convertible: any URLRequestConvertible

  private struct Received {
    var data = Data()
    var validations: [Validation] = []
  }

  private let received = Mutex(Received())

  init(
    _ convertible: any URLRequestConvertible, session: any RequestSession, shouldAutomaticallyResume: Bool?
  ) {
    self.convertible = convertible
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// The body as far as it came; nil if there is none.
  public var data: Data? {
    let data = received.withLock { $0.data }
    return data.isEmpty ? nil : data
  }

  override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    session.dataTask(with: request)
  }

  override func reset() {
    super.reset()
    received.withLock { $0.data = Data() }
  }

  func didReceive(_ data: Data, from task: URLSessionTask) {
    let count = received.withLock { received in
      // Taken over without a copy, as long as it is the only piece.
      if received.data.isEmpty { received.data = data } else { received.data.append(data) }
      return Int64(received.data.count)
    }
    didReceive(count, of: task.countOfBytesExpectedToReceive)
  }

  // MARK: The response's head

  /// Lets `handler` decide about the response when its head came, before its body is taken.
  ///
  /// `handler` is called on `queue`; the body waits until it has called its completion handler.
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
    return self
  }

  /// Calls `handler` on `queue` when the response's head came.
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

  /// Adds a validation. They run in order when the response is complete, until one refuses it.
  @preconcurrency
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    received.withLock { $0.validations.append(validation) }
    return self
  }

  override func validate(_ response: HTTPURLResponse) -> AFError? {
    let validations = received.withLock { $0.validations }
    guard !validations.isEmpty else { return nil }
    let (request, data, monitors) = (request, data, dataMonitors)
    return refusal(of: validations) { validation in
      let result = validation(request, response, data)
      monitors?.request(self, didValidateRequest: request, response: response, data: data, withResult: result)
      return result
    }
  }

  // MARK: Responses

  /// Calls `completionHandler` with the body as it came.
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
      dataMonitors?.request(self, didParseResponse: response)
      // Nothing was serialised, so nothing was serialised in vain.
      return SerializedResponse(error: nil) { [self] _ in deliver(response, on: queue, to: completionHandler) }
    }
    return self
  }

  /// Calls `completionHandler` with what `responseSerializer` makes of the body.
  @preconcurrency
  @discardableResult
  public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Calls `completionHandler` with what `responseSerializer` makes of the body.
  @preconcurrency
  @discardableResult
  public func response<Serializer: DataResponseSerializerProtocol>(
    queue: DispatchQueue = .main, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    serialize(with: responseSerializer, on: queue, completionHandler)
  }

  /// Calls `completionHandler` with what `responseSerializer` makes of the body; for handlers that take an
  /// `AFDataResponse<Any>`, such as those of a ``JSONResponseSerializer``.
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
      dataMonitors?.request(self, didParseResponse: response)
      return SerializedResponse(error: response.error) { [self] replacement in
        deliver(replacement.map { response.failing(with: $0) } ?? response, on: queue, to: completionHandler)
      }
    }
    return self
  }

  private func serialize<Serializer: DataResponseSerializerProtocol>(
    with serializer: Serializer
  ) -> AFDataResponse<Serializer.SerializedObject> {
    let (request, httpResponse, data, error) = (request, response, data, error)
    let (result, duration) = serialized {
      try serializer.serialize(request: request, response: httpResponse, data: data, error: error)
    }
    return DataResponse(
      request: request, response: httpResponse, data: data, metrics: metrics, serializationDuration: duration,
      result: result)
  }

  /// Calls `completionHandler` with the body; an empty one is an error unless method or status allow it.
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
      responseSerializer: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      completionHandler: completionHandler)
  }

  /// Calls `completionHandler` with the body as text, in the given encoding, the response's, or ISO Latin-1.
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

  /// Calls `completionHandler` with the body decoded into a `Value`.
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

/// Receives the events of data requests alone.
protocol DataRequestMonitor: RequestMonitor {
  func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult)
  func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
  func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
}

extension DataRequest {
  private var dataMonitors: (any DataRequestMonitor)? { monitors.flatMap { $0 as? any DataRequestMonitor } }
}
