// SerializationTests: the built-in serializers, and custom ones as in the documentation.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct SerializationTests {
  private struct Failure: Error, Equatable {}

  private func head(_ status: Int, _ type: String = "text/plain") throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://localhost/"))
    return try #require(
      HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": type]))
  }

  private func reason(_ error: (any Error)?) -> AFError.ResponseSerializationFailureReason? {
    guard case .responseSerializationFailed(let reason)? = error as? AFError else { return nil }
    return reason
  }

  @Test("if a request has failed, each response serializer returns the request's error")
  func errors() throws {
    let data = Data("{}".utf8)
    #expect(Request.serializeResponseData(response: nil, data: data, error: Failure()).error is Failure)
    #expect(
      Request.serializeResponseString(encoding: nil, response: nil, data: data, error: Failure()).error is Failure)
    #expect(Request.serializeResponseJSON(options: [], response: nil, data: data, error: Failure()).error is Failure)
    #expect(
      Request.serializeResponsePropertyList(options: [], response: nil, data: data, error: Failure()).error is Failure)
  }

  @Test("response serializers accept an empty body with the status codes 204 and 205", arguments: [204, 205])
  func empty(status: Int) throws {
    let head = try head(status)
    #expect(Request.serializeResponseData(response: head, data: nil, error: nil).value == Data())
    #expect(Request.serializeResponseString(encoding: nil, response: head, data: nil, error: nil).value == "")
    #expect(Request.serializeResponseJSON(options: [], response: head, data: nil, error: nil).value is NSNull)
    #expect(Request.serializeResponsePropertyList(options: [], response: head, data: nil, error: nil).value is NSNull)
  }

  @Test("serializing a missing body fails, and so does serializing an empty body as JSON or as a property list")
  func missing() throws {
    guard case .inputDataNil? = reason(Request.serializeResponseData(response: nil, data: nil, error: nil).error) else {
      return #expect(Bool(false))
    }
    guard
      case .inputDataNilOrZeroLength? = reason(
        Request.serializeResponseJSON(options: [], response: nil, data: Data(), error: nil).error)
    else { return #expect(Bool(false)) }
    guard
      case .inputDataNilOrZeroLength? = reason(
        Request.serializeResponsePropertyList(options: [], response: nil, data: nil, error: nil).error)
    else { return #expect(Bool(false)) }
  }

  @Test("text is decoded with the given encoding, else with the response's charset, else as ISO-8859-1")
  func text() throws {
    func text(_ encoding: String.Encoding?, _ type: String, _ bytes: [UInt8]) throws -> Alamofire4.Result<String> {
      Request.serializeResponseString(encoding: encoding, response: try head(200, type), data: Data(bytes), error: nil)
    }
    #expect(try text(nil, "text/plain", [0xE9]).value == "é")
    #expect(try text(nil, "text/plain; charset=utf-8", [0xC3, 0xA9]).value == "é")
    #expect(try text(.utf8, "text/plain; charset=iso-8859-1", [0xC3, 0xA9]).value == "é")
    let error = try text(nil, "text/plain; charset=utf-8", [0xFF]).error as? AFError
    #expect(error?.failedStringEncoding == .utf8)
  }

  @Test("serializing malformed JSON or a malformed property list fails with Foundation's error as the underlying error")
  func malformed() {
    let data = Data("{".utf8)
    let json = Request.serializeResponseJSON(options: [], response: nil, data: data, error: nil).error as? AFError
    #expect(json?.isResponseSerializationError == true && json?.underlyingError != nil)
    let list =
      Request.serializeResponsePropertyList(options: [], response: nil, data: data, error: nil).error as? AFError
    #expect(list?.isResponseSerializationError == true)
    #expect((list?.underlyingError as? CocoaError)?.code == .propertyListReadCorrupt)
    #expect(list?.localizedDescription.contains("isn't a property list in XML") == true)
  }

  @Test("responseJSON and responsePropertyList deliver the objects that they decode")
  func objects() async throws {
    let list = try PropertyListSerialization.data(fromPropertyList: ["a": "b"], format: .xml, options: 0)
    let server = try OriginServer.serving { request in
      request.path == "/plist"
        ? Reply(fields: ["Content-Type": "application/x-plist"], .bytes(Array(list))) : DemoRoutes.reply(to: request)
    }
    let manager = makeManager()
    let name = await firstValue { (completion: @escaping @Sendable (String?) -> Void) in
      manager.request("\(server.url)/json").responseJSON(queue: .global()) { response in
        let object = response.result.value as? [String: Any]
        completion(object?["name"] as? String)
      }
    }
    #expect(name == "lupine")
    let value = await firstValue { (completion: @escaping @Sendable (String?) -> Void) in
      manager.request("\(server.url)/plist").responsePropertyList(queue: .global()) { response in
        completion((response.value as? [String: String])?["a"])
      }
    }
    #expect(value == "b")
  }

  @Test("the times in a response's Timeline are in order, and match the task's metrics")
  func timeline() async throws {
    let server = try demoServer()
    let manager = makeManager()
    let response = await manager.request("\(server.url)/json").string()
    #expect(response.error == nil)
    let timeline = response.timeline
    #expect(timeline.requestStartTime <= timeline.initialResponseTime)
    #expect(timeline.initialResponseTime <= timeline.requestCompletedTime)
    #expect(timeline.requestCompletedTime <= timeline.serializationCompletedTime)
    #expect(abs(timeline.requestStartTime - Date().timeIntervalSinceReferenceDate) < 60)
    let metrics = try #require(response.metrics)
    #expect(timeline.requestCompletedTime == metrics.taskInterval.end.timeIntervalSinceReferenceDate)
    let first = metrics.transactionMetrics.last?.responseStartDate?.timeIntervalSinceReferenceDate
    #expect(timeline.initialResponseTime == first)
    // If its manager were deallocated, the request would be cancelled.
    withExtendedLifetime(manager) {}
  }

  @Test("the documentation's examples of custom serializers return objects and collections")
  func customSerializers() async throws {
    let server = try OriginServer.serving { request in
      request.path == "/user" ? .json(["name": "mattt"]) : .json([["name": "a"], ["name": "b"]])
    }
    let manager = makeManager()
    let user = await firstValue { (completion: @escaping @Sendable (User?) -> Void) in
      manager.request("\(server.url)/user").responseObject { (response: DataResponse<User>) in
        completion(response.result.value)
      }
    }
    #expect(user?.name == "mattt")
    let users = await firstValue { (completion: @escaping @Sendable ([User]?) -> Void) in
      manager.request("\(server.url)/users").responseCollection { (response: DataResponse<[User]>) in
        completion(response.result.value)
      }
    }
    #expect(users?.map(\.name) == ["a", "b"])
    let refused = await firstValue { (completion: @escaping @Sendable ((any Error)?) -> Void) in
      manager.request("\(server.url)/users").responseObject { (response: DataResponse<User>) in
        completion(response.error)
      }
    }
    #expect(refused is User.Malformed)
  }
}

/// A value that is created from the JSON object in a response, as in Alamofire 4's documentation.
private struct User: Sendable {
  struct Malformed: Error {}

  let name: String

  init?(representation: Any) {
    guard let object = representation as? [String: Any], let name = object["name"] as? String else { return nil }
    self.name = name
  }
}

extension DataRequest {
  @discardableResult
  fileprivate func responseObject(completionHandler: @escaping (DataResponse<User>) -> Void) -> Self {
    let serializer = DataResponseSerializer<User> { request, response, data, error in
      if let error { return .failure(error) }
      let result = DataRequest.jsonResponseSerializer().serializeResponse(request, response, data, nil)
      return result.flatMap { object in
        guard let user = User(representation: object) else { throw User.Malformed() }
        return user
      }
    }
    return response(queue: .global(), responseSerializer: serializer, completionHandler: completionHandler)
  }

  @discardableResult
  fileprivate func responseCollection(completionHandler: @escaping (DataResponse<[User]>) -> Void) -> Self {
    let serializer = DataResponseSerializer<[User]> { request, response, data, error in
      DataRequest.jsonResponseSerializer().serializeResponse(request, response, data, error)
        .map { ($0 as? [Any] ?? []).compactMap(User.init(representation:)) }
    }
    return response(queue: .global(), responseSerializer: serializer, completionHandler: completionHandler)
  }
}
