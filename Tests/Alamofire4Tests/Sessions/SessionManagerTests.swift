// SessionManagerTests: the initializers, the defaults and the background handler of session managers.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct SessionManagerTests {
  @Test("a request of an invalidated session fails, and its handlers are called")
  func invalidated() async {
    let manager = SessionManager(configuration: .ephemeral)
    manager.session.invalidateAndCancel()
    let response = await manager.request("http://127.0.0.1:1/").finished()
    #expect((response.error as? URLError)?.code == .cancelled)
  }

  @Test("the requests of the default SessionManager contain the default header fields")
  func defaults() async throws {
    let server = try OriginServer.serving { request in
      .text(
        ["user-agent", "accept-encoding", "accept-language"].map { request.fields.first($0) ?? "-" }.joined(
          separator: "\n"))
    }
    let fields = SessionManager.defaultHTTPHeaders
    let sent = await SessionManager.default.request(server.url).string().value
    #expect(
      sent == ["User-Agent", "Accept-Encoding", "Accept-Language"].map { fields[$0] ?? "?" }.joined(separator: "\n"))
    #expect(fields["User-Agent"]?.contains("Lupine/") == true)
    #expect(SessionManager.default.startRequestsImmediately)
    #expect(SessionManager.default.adapter == nil && SessionManager.default.retrier == nil)
    #expect(SessionManager.multipartFormDataEncodingMemoryThreshold == 10_000_000)
  }

  @Test("a SessionManager can be created from a URLSession only together with the session's delegate")
  func sessions() async throws {
    let server = try demoServer()
    let delegate = SessionDelegate()
    let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    #expect(SessionManager(session: session, delegate: SessionDelegate()) == nil)
    let manager = try #require(SessionManager(session: session, delegate: delegate))
    #expect(manager.session === session && manager.delegate === delegate)
    #expect(await manager.request("\(server.url)/json").finished().response?.statusCode == 200)
  }

  @Test("creating a SessionManager with trust policies fails if the URLSession has already sent a request")
  func latePolicies() async throws {
    let server = try demoServer()
    let delegate = SessionDelegate()
    let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    let policies = ServerTrustPolicyManager(policies: [:])
    let first = try #require(SessionManager(session: session, delegate: delegate))
    _ = await first.request("\(server.url)/json").finished()
    #expect(SessionManager(session: session, delegate: delegate, serverTrustPolicyManager: policies) == nil)
  }

  @Test("setting different properties of a SessionManager on several threads at the same time loses no value")
  func concurrentChanges() {
    let manager = makeManager()
    let lost = Shared(0)
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      for number in 0..<1_000 {
        if index == 0 {
          manager.startRequestsImmediately = number.isMultiple(of: 2)
          if manager.startRequestsImmediately != number.isMultiple(of: 2) { lost.update { $0 += 1 } }
        } else {
          manager.backgroundCompletionHandler = number.isMultiple(of: 2) ? {} : nil
          if (manager.backgroundCompletionHandler != nil) != number.isMultiple(of: 2) { lost.update { $0 += 1 } }
        }
      }
    }
    #expect(lost.value == 0)
  }

  @Test("after all background events, backgroundCompletionHandler is called on the main queue")
  func background() async {
    let manager = makeManager()
    #expect(manager.backgroundCompletionHandler == nil)
    // On Linux, the main queue needn't run on the main thread.
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
    let isMain = await withCheckedContinuation { continuation in
      manager.backgroundCompletionHandler = {
        continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
      }
      manager.delegate.urlSessionDidFinishEvents(forBackgroundURLSession: manager.session)
    }
    #expect(isMain)
  }

  private final class Subclass: SessionManager, @unchecked Sendable {
    let calls = Shared<[String]>([])

    private func changed(_ request: any URLRequestConvertible, _ call: String) -> any URLRequestConvertible {
      calls.update { $0.append(call) }
      guard var changed = request.urlRequest else { return request }
      changed.setValue(call, forHTTPHeaderField: "X-Call")
      return changed
    }

    override func request(_ urlRequest: any URLRequestConvertible) -> DataRequest {
      super.request(changed(urlRequest, "request"))
    }

    override func download(
      _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.DownloadFileDestination? = nil
    ) -> DownloadRequest {
      super.download(changed(urlRequest, "download"), to: destination)
    }

    override func upload(_ data: Data, with urlRequest: any URLRequestConvertible) -> UploadRequest {
      super.upload(data, with: changed(urlRequest, "upload"))
    }
  }

  @Test(
    "a subclass of SessionManager can override the methods that create requests from URLRequests, for those from URLs too"
  )
  func subclass() async throws {
    let server = try demoServer()
    let manager = Subclass(configuration: .ephemeral)
    let request = manager.request("\(server.url)/echo", method: .post, parameters: ["a": 1])
    #expect(await request.object()["body"] == "a=1")
    #expect(request.request?.value(forHTTPHeaderField: "X-Call") == "request")
    let download = manager.download("\(server.url)/json")
    if let file = await download.finished().temporaryURL { try? FileManager.default.removeItem(at: file) }
    #expect(download.request?.value(forHTTPHeaderField: "X-Call") == "download")
    let upload = manager.upload(Data("x".utf8), to: "\(server.url)/echo")
    #expect(await upload.object()["body"] == "x")
    #expect(upload.request?.value(forHTTPHeaderField: "X-Call") == "upload")
    await withCheckedContinuation { continuation in
      manager.upload(
        multipartFormData: { $0.append(Data("v".utf8), withName: "n") }, to: "\(server.url)/echo", queue: .global()
      ) { _ in continuation.resume() }
    }
    #expect(manager.calls.value == ["request", "download", "upload", "upload"])
  }

  @Test("a request whose parameters can't be encoded fails, and its URLRequest is the one without parameters")
  func encodingFailure() async {
    let manager = makeManager()
    let encoding = PropertyListEncoding(format: .openStep)
    let request = manager.request("http://localhost/a", method: .put, parameters: ["a": 1], encoding: encoding)
    let response = await request.finished()
    #expect((response.error as? AFError)?.isParameterEncodingError == true)
    #expect(response.request?.url?.path == "/a" && response.request?.httpMethod == "PUT")
    let download = manager.download("http://localhost/b", parameters: ["a": 1], encoding: encoding)
    let file = await download.finished()
    #expect((file.error as? AFError)?.isParameterEncodingError == true)
    #expect(file.request?.url?.path == "/b" && file.temporaryURL == nil)
  }

  @Test("deallocating a SessionManager invalidates its URLSession")
  func deinitialization() async {
    let invalid = Gate()
    var manager: SessionManager? = makeManager()
    manager?.delegate.sessionDidBecomeInvalidWithError = { _, _ in invalid.open() }
    manager = nil
    await invalid.wait()
    #expect(invalid.isOpen)
  }
}
