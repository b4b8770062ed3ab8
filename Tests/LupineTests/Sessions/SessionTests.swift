// SessionTests: requests from end to end: the bytes sent, and the response delivered.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  private struct Document: Decodable, Equatable, Sendable {
    var name: String
    var numbers: [Int]
  }

  private struct Form: Encodable, Sendable {
    var text = "a b&c=d/é"
    var number = 7
    var list = [true]
  }

  private static let document = Document(name: "lupine", numbers: [1, 2, 3])

  // MARK: Responses

  @Test("a request decodes a JSON document, and delivers the value on the handler's queue or to an awaiting task")
  func decodable() async throws {
    let url = try await TestServers.nginx + "/json"
    try await withSession { session in
      let queue = DispatchQueue(label: "completions")
      let key = DispatchSpecificKey<Int>()
      queue.setSpecific(key: key, value: 1)
      let (response, isOnQueue) = await firstValue {
        (completion: @escaping @Sendable ((AFDataResponse<Document>, Bool)) -> Void) in
        session.request(url).validate().responseDecodable(of: Document.self, queue: queue) { response in
          completion((response, DispatchQueue.getSpecific(key: key) == 1))
        }
      }
      #expect(isOnQueue)
      #expect(response.value == Self.document)
      #expect(response.response?.statusCode == 200)
      #expect(response.response?.url?.absoluteString == url)
      #expect(response.request?.url?.absoluteString == url)
      #expect(response.data?.count == response.response.map { Int($0.expectedContentLength) })
      #expect(await session.request(url).serializingDecodable(Document.self).response.value == Self.document)
    }
  }

  @Test("by default, completion handlers run on the main queue")
  func mainQueue() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    let isMain = await withCheckedContinuation { continuation in
      AF.request(url).response { _ in continuation.resume(returning: MainQueue.isCurrent) }
    }
    #expect(isMain)
  }

  @Test("a session receives text and bytes over both IPv4 and IPv6")
  func textAndBytes() async throws {
    for base in [try await TestServers.nginx, try await TestServers.nginx6] {
      try await withSession { session in
        #expect(await session.request(base + "/small.txt").serializingString().response.value == "small\n")
        #expect(await session.request(base + "/small.txt").serializingData().response.value == Data("small\n".utf8))
        let raw = await session.request(base + "/small.txt").outcome()
        #expect(raw.value == Data("small\n".utf8))
      }
    }
  }

  @Test("text is decoded with the response's charset, or as ISO Latin-1 if there is none")
  func charsets() async throws {
    let bodies: [String: ([UInt8], String)] = [
      "/utf8": (Array("naïve €".utf8), "text/plain; charset=utf-8"),
      "/latin1": ([0x6E, 0x61, 0xEF, 0x76, 0x65], "text/plain; charset=ISO-8859-1"),
      "/utf16": ([0xFE, 0xFF, 0x20, 0xAC], "text/plain; charset=\"utf-16\""),
      "/none": ([0x6E, 0x61, 0xEF, 0x76, 0x65], "text/plain"),
    ]
    try await withServer { request in
      guard let (bytes, type) = bodies[request.path] else { return Reply(status: 404) }
      return Reply(fields: ["Content-Type": type], .bytes(bytes))
    } _: { origin in
      try await withSession { session in
        for (path, text) in ["/utf8": "naïve €", "/latin1": "naïve", "/utf16": "€", "/none": "naïve"] {
          #expect(await session.request(origin.url + path).serializingString().response.value == text, "\(path)")
        }
      }
    }
  }

  @Test(
    "an empty body's data is nil, and serializing it fails unless the status code or the method allows an empty body")
  func emptyBodies() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let refused = await session.request(base + "/status/401").outcome()
      #expect(refused.data == nil && refused.response?.statusCode == 401 && refused.error == nil)

      let missing = await session.request(base + "/status/200").serializingData().response
      guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = missing.error else {
        Issue.record("An empty 200 has another outcome: \(missing)")
        return
      }
      let none = session.request(base + "/status/204")
      #expect(await none.serializingData().result.success == Data())
      #expect(await none.serializingString().result.success?.isEmpty == true)
      #expect(await none.serializingDecodable(Empty.self).result.success == Empty.value)
      let invalid = await none.serializingDecodable(Document.self).response
      guard case .responseSerializationFailed(.invalidEmptyResponse(let type)) = invalid.error else {
        Issue.record("A Document decoded from an empty 204 has another outcome: \(invalid)")
        return
      }
      #expect(type.contains("Document"))
      let head = await session.request(base + "/get", method: .head).serializingData().response
      #expect(head.value == Data() && head.data == nil)
      #expect(head.response?.expectedContentLength ?? 0 > 0)
    }
  }

  // MARK: Requests

  @Test(
    "a request adds its parameters to the query for GET and DELETE, and to the body for other methods",
    arguments: [
      (HTTPMethod.get, true), (.delete, true), (.post, false), (.put, false), (.patch, false),
    ])
  func destination(method: HTTPMethod, isQuery: Bool) async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let sent = try await session.request(base + "/anything?kept=1", method: method, parameters: Form())
        .serializingDecodable(Anything.self).value
      #expect(sent.method == method.rawValue)
      let fields = ["text": "a b&c=d/é", "number": "7"]
      for (name, value) in fields {
        #expect((isQuery ? sent.args : sent.form)[name] == value)
        #expect((isQuery ? sent.form : sent.args)[name] == nil)
      }
      #expect(sent.args["kept"] == "1")
      #expect(sent.headers["Content-Type"] == (isQuery ? nil : "application/x-www-form-urlencoded; charset=utf-8"))
    }
  }

  @Test("a request sends its parameters as a form or as JSON with exactly the expected bytes")
  func bodies() async throws {
    try await withServer { request in
      .text(
        request.fields.first("Content-Type").map { "\($0)\n" + String(decoding: request.body, as: UTF8.self) } ?? "")
    } _: { origin in
      try await withSession { session in
        let form = session.request(origin.url, method: .post, parameters: Form())
        #expect(
          await form.serializingString().response.value == """
            application/x-www-form-urlencoded; charset=utf-8
            list%5B%5D=1&number=7&text=a%20b%26c%3Dd/%C3%A9
            """)
        let json = session.request(
          origin.url, method: .post, parameters: ["b": [1, 2], "a": []], encoder: JSONParameterEncoder.sortedKeys)
        #expect(await json.serializingString().response.value == "application/json\n{\"a\":[],\"b\":[1,2]}")
      }
    }
  }

  @Test("the request head contains Host, the request's fields, and then the session's fields, each name once")
  func head() async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { origin in
      try await withSession {
        $0.headers = ["X-Session": "s", "X-Both": "session", "User-Agent": "me"]
      } _: { session in
        let request = session.request(
          origin.url + "/a?b=c#d", method: .post, headers: ["x-both": "request", "X-Request": "r"])
        let host = origin.url.dropFirst("http://".count)
        #expect(
          await request.serializingString().response.value
            == [
              "POST /a?b=c HTTP/1.1", "Host: \(host)", "x-both: request", "X-Request: r", "X-Session: s",
              "User-Agent: me", "Content-Length: 0", "", "",
            ].joined(separator: "\r\n"))
      }
    }
  }

  @Test("a request contains the default header fields")
  func defaultFields() async throws {
    let base = try await TestServers.httpbin
    let sent = try await AF.request(base + "/anything").serializingDecodable(Anything.self).value
    #expect(sent.headers["Accept-Encoding"] == AcceptEncoding.session)
    #expect(sent.headers["Accept-Language"] == HTTPHeader.defaultAcceptLanguage.value)
    let agent = try #require(sent.headers["User-Agent"])
    #expect(agent.contains(#/^[^\/ ]+\/[^ ]+ \([^;]+; build:[^;]+; Linux \d+\.\d+\.\d+\) Lupine\/\d+\.\d+\.\d+$/#))
  }

  @Test("the request modifier runs before the parameters are encoded, and the modifier's error makes the request fail")
  func modifier() async throws {
    struct Refusal: Error {}
    let base = try await TestServers.httpbin
    try await withSession { session in
      let sent = try await session.request(base + "/anything", parameters: ["a": "b"]) { request in
        #expect(request.url?.query == nil)
        request.method = .put
        request.timeoutInterval = 20
      }.serializingDecodable(Anything.self).value
      #expect(sent.method == "PUT" && sent.form == ["a": "b"])

      let refused = await session.request(base + "/anything") { _ in throw Refusal() }.outcome()
      guard case .createURLRequestFailed(let error) = refused.error else {
        Issue.record("\(refused)")
        return
      }
      #expect(error is Refusal)
      #expect(refused.request == nil)
    }
  }

  // MARK: Queues

  @Test(
    "creation, validation, serialization and completion of a request each run on the configured queue",
    arguments: [false, true])
  func queues(isRootConcurrent: Bool) async throws {
    let url = try await TestServers.nginx + "/small.txt"
    let key = DispatchSpecificKey<String>()
    func queue(_ name: String, _ attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
      let queue = DispatchQueue(label: name, attributes: attributes)
      queue.setSpecific(key: key, value: name)
      return queue
    }
    let session = Session(
      rootQueue: queue("root", isRootConcurrent ? .concurrent : []), requestQueue: queue("request"),
      serializationQueue: queue("serialization"))
    let seen = Recorder<String>()
    let see: @Sendable (String) -> Void = { seen.record("\($0) on \(DispatchQueue.getSpecific(key: key) ?? "none")") }
    let completions = queue("completions")
    session.request(url) { _ in see("build") }
      .validate { _, _, _ in
        see("validate")
        return .success(())
      }
      .cURLDescription { _ in see("curl") }
      .downloadProgress(queue: completions) { _ in see("progress") }
      .response(queue: completions, responseSerializer: Spy { see("serialize") }) { _ in see("complete") }
    let events = await seen.first(6)
    #expect(
      Set(events) == [
        "build on request", "curl on root", "validate on root", "serialize on serialization",
        "progress on completions", "complete on completions",
      ])
    #expect(events.first == "build on request")
    #expect(events.last == "complete on completions")
    withExtendedLifetime(session) {}
  }

  @Test("a session can be created with the main queue as its root queue")
  func mainRoot() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    let session = Session(rootQueue: .main)
    let isMain = Mutex(false)
    let response = await session.request(url).validate { _, _, _ in
      isMain.withLock { $0 = MainQueue.isCurrent }
      return .success(())
    }.serializingString().response
    #expect(response.value == "small\n")
    #expect(isMain.withLock { $0 })
    withExtendedLifetime(session) {}
  }

  #if DEBUG
    @Test("a step of a request that runs on another queue than the root queue ends a debug build")
    func wrongQueue() async {
      await #expect(processExitsWith: .failure) { Session().queues.assertOnRoot() }
      await #expect(processExitsWith: .success) {
        let session = Session()
        session.rootQueue.sync { session.queues.assertOnRoot() }
      }
    }
  #endif
}

/// Recognizes the main queue by a queue-specific key. On Linux, the main queue may run on another thread than the main thread.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// A response serializer that calls a closure when it serializes a response, and returns the body unchanged.
private struct Spy: DataResponseSerializerProtocol {
  let tell: @Sendable () -> Void

  func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Data? {
    tell()
    if let error { throw error }
    return data
  }
}
