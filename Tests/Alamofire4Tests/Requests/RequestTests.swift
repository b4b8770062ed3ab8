// RequestTests: the creation, the controls and the descriptions of requests.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct RequestTests {
  private let server: OriginServer
  private let manager = makeManager()

  init() throws { server = try demoServer() }

  @Test("a request sends its method, parameters and header fields")
  func fields() async throws {
    let echo = await manager.request(
      "\(server.url)/echo", method: .post, parameters: ["b": 2, "a": "x y"], headers: ["X-Test": "yes"]
    ).object()
    #expect(echo["method"] == "POST")
    #expect(echo["body"] == "a=x%20y&b=2")
    let response = await manager.request("\(server.url)/echo", headers: ["X-Test": "yes"]).string()
    #expect(response.value?.contains("yes") == true)
  }

  @Test("the global functions, with or without the module's name, send requests with the default manager")
  func globals() async {
    let first = request("\(server.url)/json")
    let second = Alamofire.request("\(server.url)/json")
    #expect(first.session === SessionManager.default.session && second.session === first.session)
    #expect(await first.finished().response?.statusCode == 200)
    #expect(await second.finished().response?.statusCode == 200)
    let download = await Alamofire.download("\(server.url)/json").finished()
    #expect(download.error == nil)
    if let file = download.temporaryURL { try? FileManager.default.removeItem(at: file) }
    #expect(await Alamofire.upload(Data("x".utf8), to: "\(server.url)/echo").object()["body"] == "x")
  }

  @Test("a request with an invalid URL string fails with AFError.invalidURL")
  func invalidURL() async {
    let response = await manager.request("").finished()
    let error = response.error as? AFError
    #expect(error?.isInvalidURLError == true)
    #expect(error?.urlConvertible as? String == "")
    #expect(response.request == nil && response.response == nil)
  }

  @Test("a successful request has a task, no error, and a TaskDelegate that contains the body")
  func taskAndDelegate() async {
    let request = manager.request("\(server.url)/json")
    _ = await request.finished()
    #expect(request.task is URLSessionDataTask)
    #expect(request.delegate.data?.isEmpty == false)
    #expect(request.delegate.error == nil)
    #expect(!request.delegate.queue.isSuspended && request.delegate.queue.maxConcurrentOperationCount == 1)
    #expect(request.retryCount == 0)
    #expect(request.response?.statusCode == 200)
  }

  @Test("response handlers run in the order in which they were added")
  func order() async {
    let calls = Shared<[Int]>([])
    let request = manager.request("\(server.url)/json")
    let queue = DispatchQueue(label: "handlers")
    for number in 1...3 { request.response(queue: queue) { _ in calls.update { $0.append(number) } } }
    await withCheckedContinuation { continuation in
      request.response(queue: queue) { _ in continuation.resume() }
    }
    #expect(calls.value == [1, 2, 3])
  }

  @Test("a response handler that is added to a completed request is called")
  func lateHandler() async {
    let request = manager.request("\(server.url)/json")
    _ = await request.finished()
    #expect(await request.finished().response?.statusCode == 200)
  }

  @Test("the closure that is passed to stream(closure:) receives the body, and the request doesn't store the body")
  func stream() async {
    let received = Shared(Data())
    manager.startRequestsImmediately = false
    let request = manager.request("\(server.url)/big?bytes=100000").stream { part in received.update { $0.append(part) }
    }
    request.resume()
    let response = await request.finished()
    #expect(received.value.count == 100_000)
    #expect(response.data == nil && response.error == nil)
  }

  @Test("a request's progress ends at the length of the response's body, and the progress handler is called")
  func progress() async {
    let last = Shared<Int64>(0)
    let queue = DispatchQueue(label: "progress")
    manager.startRequestsImmediately = false
    let request = manager.request("\(server.url)/big?bytes=300000")
      .downloadProgress(queue: queue) { progress in
        let count = progress.completedUnitCount
        last.update { $0 = count }
      }
    request.resume()
    _ = await request.finished()
    queue.sync {}
    #expect(last.value == 300_000)
    #expect(request.progress.totalUnitCount == 300_000 && request.progress.fractionCompleted == 1)
  }

  @Test("a progress handler that is added after bytes have been transferred is called with the current progress")
  func lateProgress() async {
    let last = Shared<Int64>(0)
    let queue = DispatchQueue(label: "progress")
    let request = manager.request("\(server.url)/big?bytes=1000")
    _ = await request.finished()
    request.downloadProgress(queue: queue) { progress in
      let count = progress.completedUnitCount
      last.update { $0 = count }
    }
    queue.sync {}
    #expect(last.value == 1_000)
  }

  @Test("if startRequestsImmediately is false, a request isn't sent before resume is called")
  func manualStart() async {
    manager.startRequestsImmediately = false
    let request = manager.request("\(server.url)/json")
    #expect(request.task?.state == .suspended)
    #expect(server.requestCount == 0)
    request.resume()
    #expect(await request.finished().response?.statusCode == 200)
  }

  @Test("a cancelled request completes with the error URLError.cancelled")
  func cancel() async {
    let request = manager.request("\(server.url)/slow")
    request.cancel()
    #expect((await request.finished().error as? URLError)?.code == .cancelled)
  }

  @Test("a request posts a notification with its task when it is resumed, suspended, cancelled and completed")
  func notifications() async {
    typealias Names = Notification.Name.Task
    let manager = makeManager()
    manager.startRequestsImmediately = false
    let request = manager.request("\(server.url)/json")
    let names = Shared<[String]>([])
    let tokens = [Names.DidResume, Names.DidSuspend, Names.DidCancel].map { name in
      NotificationCenter.default.addObserver(forName: name, object: request, queue: nil) { note in
        #expect(note.userInfo?[Notification.Key.Task] is URLSessionTask)
        names.update { $0.append(name.rawValue) }
      }
    }
    let completion = NotificationCenter.default.addObserver(
      forName: Names.DidComplete, object: manager.delegate, queue: nil
    ) { note in
      #expect((note.userInfo?[Notification.Key.ResponseData] as? Data)?.isEmpty == false)
      names.update { $0.append(Names.DidComplete.rawValue) }
    }
    request.resume()
    request.suspend()
    request.resume()
    _ = await request.finished()
    request.cancel()
    // The notification of the completion is posted after the response handlers have started.
    await withCheckedContinuation { continuation in
      manager.session.delegateQueue.addOperation { continuation.resume() }
    }
    for token in tokens + [completion] { NotificationCenter.default.removeObserver(token) }
    let prefix = "org.alamofire.notification.name.task."
    #expect(Set(names.value) == Set(["didSuspend", "didResume", "didComplete", "didCancel"].map { prefix + $0 }))
  }

  @Test("authenticate(user:password:) answers a Basic challenge, and Request.authorizationHeader avoids one")
  func authentication() async throws {
    let server = try OriginServer.serving { request in
      guard request.fields.first("authorization") == "Basic dXNlcjpwYXNz" else {
        return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"test\""])
      }
      return .text("welcome")
    }
    // The request starts only after its credential has been set. The challenge could arrive earlier otherwise.
    manager.startRequestsImmediately = false
    let request = manager.request(server.url).authenticate(user: "user", password: "pass")
    request.resume()
    #expect(await request.string().value == "welcome")
    let header = try #require(Request.authorizationHeader(user: "user", password: "pass"))
    #expect(header.key == "Authorization" && header.value == "Basic dXNlcjpwYXNz")
    let again = makeManager()
    #expect(await again.request(server.url, headers: [header.key: header.value]).string().value == "welcome")
    let other = makeManager()
    let wrong = await other.request(server.url).authenticate(user: "user", password: "no").finished()
    #expect(wrong.response?.statusCode == 401)
    // If their managers were deallocated, the requests would be cancelled.
    withExtendedLifetime([again, other]) {}
  }

  @Test("after a redirect to another origin, that origin's challenge isn't answered with the request's credential")
  func credentialOrigin() async throws {
    let received = Shared<[String?]>([])
    let other = try OriginServer.serving { request in
      let authorization = request.fields.first("authorization")
      received.update { $0.append(authorization) }
      return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"other\""])
    }
    let url = "\(server.url)/redirect-other?to=\(other.url)/"
    let response = await manager.request(url).authenticate(user: "user", password: "pass").finished()
    #expect(response.response?.statusCode == 401)
    #expect(received.value == [nil])
  }

  @Test("debugPrint shows a request's curl command, and print shows the method, the URL and the status code")
  func descriptions() async throws {
    let request = manager.request("\(server.url)/json", headers: ["X-Test": "a b"])
    _ = await request.finished()
    let command = request.debugDescription
    #expect(command.hasPrefix("$ curl -v"))
    #expect(!command.contains("-X ") && command.contains("X-Test: a b") && command.hasSuffix("\"\(server.url)/json\""))
    manager.startRequestsImmediately = false
    #expect(manager.request(server.url, method: .post).debugDescription.hasPrefix("$ curl -v \\\n\t-X POST \\\n\t"))
    var search = URLRequest(url: try #require(URL(string: server.url)))
    search.httpBody = Data("q".utf8)
    #expect(manager.request(search).debugDescription.contains("-X GET"))
    #expect(request.description == "GET \(server.url)/json (200)")
  }

  @Test("deallocating a SessionManager cancels its requests")
  func deinitialization() async {
    var owner: SessionManager? = makeManager()
    let request = owner?.request("\(server.url)/slow")
    owner = nil
    #expect((await request?.finished().error as? URLError)?.code == .cancelled)
  }
}
