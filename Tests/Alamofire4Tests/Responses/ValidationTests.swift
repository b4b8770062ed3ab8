// ValidationTests: the responses that validations accept and reject.

import Foundation
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct ValidationTests {
  private struct Refusal: Error {}

  private let server: OriginServer
  private let manager = makeManager()

  init() throws { server = try demoServer() }

  private func failure(_ request: DataRequest) async -> AFError? { await request.finished().error as? AFError }

  @Test("without a validation, a request succeeds with any status code")
  func none() async {
    #expect(await manager.request("\(server.url)/status/404").finished().error == nil)
  }

  @Test("validate() accepts the status codes 2xx, and rejects others")
  func statusCodes() async {
    #expect(await failure(manager.request("\(server.url)/json").validate()) == nil)
    let error = await failure(manager.request("\(server.url)/status/404").validate())
    #expect(error?.responseCode == 404 && error?.isResponseValidationError == true)
    #expect(await failure(manager.request("\(server.url)/status/404").validate(statusCode: [404])) == nil)
    #expect(await failure(manager.request("\(server.url)/json").validate(statusCode: 300..<400))?.responseCode == 200)
  }

  @Test("a validation added to a completed request rejects the response for the handlers that are added later")
  func late() async {
    let request = manager.request("\(server.url)/json")
    #expect(await request.finished().error == nil)
    #expect(await failure(request.validate(statusCode: 300..<400))?.responseCode == 200)
    // The request keeps the error of the first validation that failed.
    #expect(await failure(request.validate(contentType: ["text/html"]))?.responseCode == 200)
  }

  @Test("validate() rejects a response whose media type isn't listed in the request's Accept field")
  func accept() async {
    let url = "\(server.url)/json"
    #expect(await failure(manager.request(url, headers: ["Accept": "application/*"]).validate()) == nil)
    let error = await failure(manager.request(url, headers: ["Accept": "text/html, image/png"]).validate())
    #expect(error?.responseContentType == "application/json")
    #expect(error?.acceptableContentTypes == ["text/html", "image/png"])
  }

  @Test("validate(contentType:) accepts wildcards and empty bodies; a body without Content-Type needs */*")
  func contentTypes() async throws {
    let untyped = try OriginServer.serving { request in
      request.path == "/empty" ? Reply() : Reply(.bytes(Array("x".utf8)))
    }
    #expect(await failure(manager.request("\(server.url)/json").validate(contentType: ["application/*"])) == nil)
    #expect(await failure(manager.request("\(untyped.url)/empty").validate(contentType: ["text/html"])) == nil)
    #expect(await failure(manager.request(untyped.url).validate(contentType: ["*/*"])) == nil)
    let error = await failure(manager.request(untyped.url).validate(contentType: ["text/html"]))
    #expect(error?.acceptableContentTypes == ["text/html"] && error?.responseContentType == nil)
  }

  @Test("a request's validation closures run in order until one of them rejects the response")
  func closures() async {
    let calls = Shared<[Int]>([])
    let response = await manager.request("\(server.url)/json")
      .validate { request, response, data in
        calls.update { $0.append(1) }
        return request != nil && response.statusCode == 200 && data?.isEmpty == false ? .success : .failure(Refusal())
      }
      .validate { _, _, _ in
        calls.update { $0.append(2) }
        return .failure(Refusal())
      }
      .validate { _, _, _ in
        calls.update { $0.append(3) }
        return .success
      }
      .finished()
    #expect(response.error is Refusal)
    #expect(calls.value == [1, 2])
  }

  @Test("a download's validation closures receive the URLs of the temporary file and of the destination")
  func downloads() async throws {
    let folder = try Folder()
    let target = folder.url.appendingPathComponent("file")
    let seen = Shared<[URL?]>([])
    let download = manager.download("\(server.url)/json", to: { _, _ in (target, []) })
      .validate { _, response, temporaryURL, destinationURL in
        seen.update { $0 = [temporaryURL, destinationURL] }
        return response.statusCode == 200 ? .success : .failure(Refusal())
      }
    #expect(await download.validate().finished().error == nil)
    #expect(seen.value.count == 2 && seen.value[0] != nil && seen.value[1] == target)
    let other = folder.url.appendingPathComponent("other")
    let status =
      await manager.download("\(server.url)/status/500", to: { _, _ in (other, []) }).validate().finished().error
      as? AFError
    #expect(status?.responseCode == 500)
    let third = folder.url.appendingPathComponent("third")
    let type = await manager.download("\(server.url)/json", to: { _, _ in (third, []) }).validate(contentType: [
      "text/html"
    ]).finished().error
    #expect((type as? AFError)?.responseContentType == "application/json")
  }
}
