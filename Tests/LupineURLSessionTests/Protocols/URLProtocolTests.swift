// Requests that a URLProtocol answers in place of the network.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

/// A URLProtocol for all hosts that end with ".stub". The request's path determines the response.
private class Stub: URLProtocol, @unchecked Sendable {
  static let stopped = Mutex<[String: Int]>([:])

  class override func canInit(with request: URLRequest) -> Bool { request.url?.host?.hasSuffix(".stub") == true }

  func respond(_ status: Int = 200, _ fields: [String: String] = [:]) {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
  }

  func load(_ text: String) { client?.urlProtocol(self, didLoad: Data(text.utf8)) }

  func finish() { client?.urlProtocolDidFinishLoading(self) }

  override func startLoading() {
    switch request.url?.path {
    case "/pieces":
      respond()
      for piece in ["a", "b", "c"] { load(piece) }
      finish()
    case "/thread":
      Thread.detachNewThread {
        self.respond()
        self.load("from a thread")
        self.finish()
      }
    case "/redirect":
      guard let url = URL(string: request.url?.query ?? ""), let own = request.url,
        let response = HTTPURLResponse(url: own, statusCode: 302, httpVersion: nil, headerFields: nil)
      else { return }
      client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: url), redirectResponse: response)
      load("ignored")
    case "/fails":
      respond()
      client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
    case "/odd": client?.urlProtocol(self, didFailWithError: CocoaError(.fileNoSuchFile))
    case "/headless":
      load("body")
      finish()
    case "/late":
      load("a")
      load("b")
      respond(203)
      load("c")
      finish()
    case "/twice":
      respond(201)
      respond(500)
      load("once")
      finish()
      load("late")
      finish()
      client?.urlProtocol(self, didFailWithError: URLError(.unknown))
    case "/echo":
      let body = request.httpBody ?? request.httpBodyStream.map(Self.read) ?? Data()
      respond(200, ["X-Method": request.httpMethod ?? "", "X-Session": request.value(forHTTPHeaderField: "S") ?? ""])
      client?.urlProtocol(self, didLoad: body)
      finish()
    default: break
    }
  }

  override func stopLoading() {
    Stub.stopped.withLock { $0[request.url?.absoluteString ?? "", default: 0] += 1 }
  }

  static func read(_ stream: InputStream) -> Data {
    stream.open()
    defer { stream.close() }
    var data = Data()
    while let bytes = try? stream.readBytes(upToCount: 1_000), !bytes.isEmpty { data.append(contentsOf: bytes) }
    return data
  }
}

/// A URLProtocol that answers each request with the protocol's name.
private class Named: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "named" }

  override func startLoading() {
    guard let url = request.url else { return }
    client?.urlProtocol(
      self, didReceive: URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil),
      cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data("\(type(of: self))".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

private final class OtherNamed: Named, @unchecked Sendable {}

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

@Suite(.timeLimit(.minutes(10))) struct URLProtocolTests {
  private func withStubs<Value>(
    delegate: (any URLSessionDelegate)? = nil, _ body: (URLSession) async throws -> Value
  ) async throws -> Value {
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Stub.self]
    } _: {
      try await body($0)
    }
  }

  @Test("a URLProtocol can deliver its response in parts or on another thread")
  func answers() async throws {
    try await withStubs { session in
      let (pieces, response) = try await session.data(from: url("http://a.stub/pieces"))
      #expect(pieces == Data("abc".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
      let (text, _) = try await session.data(from: url("https://b.stub/thread"))
      #expect(text == Data("from a thread".utf8))
    }
  }

  @Test("parts of a body that a URLProtocol reports before the response are delivered after it, in order")
  func late() async throws {
    let delegate = NotingDelegate()
    try await withStubs(delegate: delegate) { session in
      session.dataTask(with: try url("http://a.stub/late")).resume()
      #expect(await settles { delegate.notes.all.contains("end") })
      #expect(delegate.notes.all.prefix(4) == ["response", "data a", "data b", "data c"])
      let (data, response) = try await session.data(from: url("http://a.stub/late"))
      #expect(data == Data("abc".utf8) && (response as? HTTPURLResponse)?.statusCode == 203)
    }
  }

  @Test("a URLProtocol can also answer downloads, uploads, tasks with delegates, and sequences of bytes")
  func kinds() async throws {
    let delegate = NotingDelegate()
    try await withStubs(delegate: delegate) { session in
      let (file, _) = try await session.download(from: url("http://a.stub/pieces"))
      #expect(try String(contentsOf: file, encoding: .utf8) == "abc")
      var request = URLRequest(url: try url("http://a.stub/echo"))
      request.httpMethod = "PUT"
      let (data, response) = try await session.upload(for: request, from: Data("memory".utf8))
      #expect(data == Data("memory".utf8))
      #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Method") == "PUT")
      let (sent, _) = try await session.upload(for: request, fromFile: file)
      #expect(sent == Data("abc".utf8))
      try FileManager.default.removeItem(at: file)
      var text = ""
      for try await line in try await session.bytes(from: url("http://a.stub/pieces")).0.lines { text += line }
      #expect(text == "abc")
      let before = delegate.notes.all.count
      session.dataTask(with: try url("http://a.stub/pieces")).resume()
      #expect(await settles { delegate.notes.all.last == "end" })
      #expect(delegate.notes.all.dropFirst(before) == ["response", "data a", "data b", "data c", "metrics 1", "end"])
    }
  }

  @Test("a redirect from a URLProtocol is followed by a protocol or the network, and reported to the delegate")
  func redirects() async throws {
    let delegate = NotingDelegate()
    try await withServer {
      .text("real \($0.path)")
    } _: { origin in
      try await withStubs(delegate: delegate) { session in
        let first = "http://a.stub/redirect?\(origin.url)/there"
        let (data, response) = try await session.data(from: url(first))
        #expect(data == Data("real /there".utf8) && response.url?.path == "/there")
        #expect(delegate.notes.all == ["redirect 302", "metrics 2"])
        let (again, _) = try await session.data(from: url("http://a.stub/redirect?http://c.stub/pieces"))
        #expect(again == Data("abc".utf8))
        #expect(await settles { Stub.stopped.withLock { $0[first] } == 1 })
      }
    }
  }

  @Test("if a URLProtocol redirects endlessly, the task fails")
  func redirectLoop() async throws {
    final class Loop: URLProtocol, @unchecked Sendable {
      static let starts = Mutex(0)

      class override func canInit(with request: URLRequest) -> Bool { request.url?.host == "loop" }

      override func startLoading() {
        guard let url = request.url else { return }
        Self.starts.withLock { $0 += 1 }
        client?.urlProtocol(
          self, wasRedirectedTo: request,
          redirectResponse: URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
      }
    }
    try await withSession {
      $0.protocolClasses = [Loop.self]
    } _: { session in
      #expect(await code { try await session.data(from: url("http://loop/")) } == .httpTooManyRedirects)
    }
    #expect(Loop.starts.withLock { $0 } == 21, "the first request and 20 redirects")
  }

  @Test("the error of a URLProtocol becomes the task's error, whatever its type")
  func errors() async throws {
    try await withStubs { session in
      let lost = await outcome { session.dataTask(with: URL(string: "http://a.stub/fails")!, completionHandler: $0) }
      #expect(lost.code == .networkConnectionLost && lost.status == 200)
      let odd = await outcome { session.dataTask(with: URL(string: "http://a.stub/odd")!, completionHandler: $0) }
      #expect((odd.error as? CocoaError)?.code == .fileNoSuchFile)
      let headless = await outcome {
        session.dataTask(with: URL(string: "http://a.stub/headless")!, completionHandler: $0)
      }
      #expect(headless.code == .badServerResponse)
      #expect(headless.error?.localizedDescription.contains("reported a part of the body, but no response") == true)
    }
  }

  @Test("only the first response and the first end that a URLProtocol reports have an effect")
  func repetition() async throws {
    let delegate = NotingDelegate()
    try await withStubs(delegate: delegate) { session in
      let task = session.dataTask(with: try url("http://a.stub/twice"))
      task.resume()
      #expect(await settles { delegate.notes.all.contains("end") })
      session.finishTasksAndInvalidate()
      await delegate.isInvalid.wait()
      #expect(delegate.notes.all == ["response", "data once", "metrics 1", "end", "invalid"])
      #expect((task.response as? HTTPURLResponse)?.statusCode == 201)
    }
  }

  private func withHeld(
    _ body: (URLSession, Held.Gates, NotingDelegate) async throws -> Void
  ) async throws {
    let (gates, delegate) = (Held.Gates(), NotingDelegate())
    defer { gates.go.open() }
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Held.self, Stub.self]
      $0.protocolContext = gates
    } _: {
      try await body($0, gates, delegate)
    }
  }

  /// The delegate calls that are expected for a task with the path "/pieces".
  private static let notesOfPieces = ["response", "data a", "data b", "data c", "metrics 1", "end"]

  @Test("a task whose URL protocol never answers can be cancelled, and the protocol's late answer has no effect")
  func silence() async throws {
    try await withHeld { session, gates, delegate in
      let task = session.dataTask(with: try url("http://a.stub/held"))
      task.resume()
      await gates.started.wait()
      task.cancel()
      let cancelled = ["metrics 1", "end \(URLError.Code.cancelled.rawValue)"]
      #expect(await settles { delegate.notes.all == cancelled })
      gates.go.open()
      await gates.stopped.wait()
      // If the delegate were called again for this task, the call would precede the calls for a later task.
      session.dataTask(with: try url("http://a.stub/pieces")).resume()
      #expect(await settles { delegate.notes.all.last == "end" })
      #expect(delegate.notes.all == cancelled + Self.notesOfPieces)
      #expect(gates.stopCount.withLock { $0 } == 1)
    }
  }

  @Test(
    "if an async call is cancelled while its URL protocol doesn't answer, the call throws and the protocol is stopped")
  func silenceOfAsyncCall() async throws {
    try await withHeld { session, gates, _ in
      let held = try url("http://a.stub/held")
      let waiting = Task { await code { try await session.data(from: held) } }
      await gates.started.wait()
      waiting.cancel()
      #expect(await waiting.value == .cancelled)
      gates.go.open()
      await gates.stopped.wait()
      #expect(gates.stopCount.withLock { $0 } == 1)
    }
  }

  @Test("while a task is suspended, the response of its URLProtocol isn't delivered")
  func suspension() async throws {
    try await withHeld { session, gates, delegate in
      let task = session.dataTask(with: try url("http://a.stub/held"))
      task.resume()
      await gates.started.wait()
      task.suspend()
      gates.go.open()
      await gates.reported.wait()
      // If the response were delivered, the delegate's calls for it would precede the calls for a later task.
      session.dataTask(with: try url("http://a.stub/pieces")).resume()
      #expect(await settles { delegate.notes.all.last == "end" })
      #expect(delegate.notes.all == Self.notesOfPieces && task.state == .suspended)
      task.resume()
      #expect(await settles { task.state == .completed })
      #expect(await settles { delegate.notes.all.count == Self.notesOfPieces.count + 4 })
      #expect(delegate.notes.all.suffix(4) == ["response", "data held", "metrics 1", "end"])
    }
  }

  @Test("a response that a URLProtocol reports after the end has no effect, even if the end hasn't been delivered yet")
  func responseAfterEnd() async throws {
    try await withHeld { session, gates, delegate in
      let task = session.dataTask(with: try url("http://a.stub/held?late"))
      task.resume()
      await gates.started.wait()
      task.suspend()
      gates.go.open()
      await gates.reported.wait()
      task.resume()
      let failure = "end \(URLError.Code.badServerResponse.rawValue)"
      #expect(await settles { delegate.notes.all == ["metrics 1", failure] })
    }
  }

  @Test(
    "a session tries its protocolClasses in order, and then the registered URLProtocol classes, the last registered first"
  )
  func order() async throws {
    final class First: Named, @unchecked Sendable {}
    final class Second: Named, @unchecked Sendable {}
    let address = try url("named:x")
    #expect(URLProtocol.registerClass(Named.self) && URLProtocol.registerClass(OtherNamed.self))
    #expect(!URLProtocol.registerClass(NSObject.self))
    defer {
      URLProtocol.unregisterClass(Named.self)
      URLProtocol.unregisterClass(OtherNamed.self)
    }
    try await withSession { session in
      let latest = try await session.data(from: address).0
      #expect(latest == Data("OtherNamed".utf8))
      URLProtocol.unregisterClass(OtherNamed.self)
      let earlier = try await session.data(from: address).0
      #expect(earlier == Data("Named".utf8))
    }
    try await withSession {
      $0.protocolClasses?.insert(Second.self, at: 0)
      $0.protocolClasses?.insert(First.self, at: 0)
      #expect($0.protocolClasses?.count == 2)
    } _: { session in
      let own = try await session.data(from: address).0
      #expect(own == Data("First".utf8))
    }
  }

  @Test(
    "a URLProtocol receives the session's header fields, and requests that no URLProtocol handles are sent over the network"
  )
  func requests() async throws {
    try await withServer {
      .text($0.fields.first("S") ?? "none")
    } _: { origin in
      try await withSession {
        $0.protocolClasses = [Stub.self]
        $0.httpAdditionalHeaders = ["S": "of the session"]
      } _: { session in
        let (_, response) = try await session.data(from: url("http://a.stub/echo"))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Session") == "of the session")
        let (sent, _) = try await session.data(for: origin.request())
        #expect(sent == Data("of the session".utf8))
      }
    }
  }

  @Test("a mock URLProtocolClient needs to implement only the methods that its test checks")
  func ownClient() async throws {
    final class Client: NSObject, URLProtocolClient {
      let notes = Notes()
      func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { notes.add(String(decoding: data, as: UTF8.self)) }
    }
    let client = Client()
    for path in ["pieces", "fails", "redirect?http://b.stub/", "odd"] {
      let request = URLRequest(url: try url("http://a.stub/\(path)"))
      Stub(request: request, cachedResponse: nil, client: client).startLoading()
    }
    #expect(client.notes.all == ["a", "b", "c", "ignored"])
  }

  @Test("copies of a request have the properties that URLProtocol.setProperty has set, and these don't affect equality")
  func properties() throws {
    let plain = URLRequest(url: try url("http://a.stub/"))
    let marked = NSMutableURLRequest(plain)
    URLProtocol.setProperty(true, forKey: "seen", in: marked)
    let value = URLRequest(marked)
    #expect(URLProtocol.property(forKey: "seen", in: value) as? Bool == true)
    #expect(URLProtocol.property(forKey: "seen", in: plain) == nil && value == plain)
    URLProtocol.removeProperty(forKey: "seen", in: marked)
    #expect(URLProtocol.property(forKey: "seen", in: URLRequest(marked)) == nil)
    #expect(URLProtocol.requestIsCacheEquivalent(plain, to: value))
    #expect(!URLProtocol.canInit(with: plain) && URLProtocol.canonicalRequest(for: plain) == plain)
  }
}
