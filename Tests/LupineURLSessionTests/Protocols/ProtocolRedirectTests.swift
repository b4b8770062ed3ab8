// Redirects that a URLProtocol reports: the fields and the body of the next request, their number, and local files.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

/// A URLProtocol that redirects requests for "/redirect" to the URL in their query, with the same fields and body.
///
/// The request's field X-Next replaces the method of the redirected request, and X-Body, which is removed, replaces the body. With
/// the field X-Reads, the protocol reads the request's body stream before the redirect.
private final class Redirecting: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.path == "/redirect" }

  override func startLoading() {
    guard let url = request.url, let target = url.query.flatMap({ URL(string: $0) }),
      let response = HTTPURLResponse(url: url, statusCode: 307, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    var next = request
    next.url = target
    if let method = request.value(forHTTPHeaderField: "X-Next") { next.httpMethod = method }
    if let body = request.value(forHTTPHeaderField: "X-Body") {
      next.httpBody = Data(body.utf8)
      next.setValue(nil, forHTTPHeaderField: "X-Body")
    }
    if request.value(forHTTPHeaderField: "X-Reads") != nil, let stream = request.httpBodyStream {
      stream.open()
      _ = try? stream.readBytes(upToCount: 100)
      stream.close()
    }
    client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
  }
}

/// A session's delegate that provides body streams, and records the calls of its methods.
private final class StreamDelegate: NSObject, URLSessionDataDelegate, Sendable {
  let notes = Notes()
  private let body: String?

  init(_ body: String? = "body") { self.body = body }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    notes.add("stream")
    completionHandler(body.map { InputStream(data: Data($0.utf8)) })
    completionHandler(InputStream(data: Data("second answer".utf8)))
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notes.add(String(decoding: data, as: UTF8.self))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    notes.add(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)")
  }
}

/// A URLProtocol that answers requests for "/echo" with a text of the request's method and body.
private final class Echo: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.path == "/echo" }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    var text = request.httpBody.map { String(decoding: $0, as: UTF8.self) } ?? ""
    if let stream = request.httpBodyStream {
      stream.open()
      while let bytes = try? stream.readBytes(upToCount: 100), !bytes.isEmpty {
        text += String(decoding: bytes, as: UTF8.self)
      }
      stream.close()
    }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data("\(request.httpMethod ?? "") [] \(text)".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

@Suite(.timeLimit(.minutes(10))) struct ProtocolRedirectTests {
  /// The source of a task's request body, such as httpBody, a stream or a file.
  enum Source: String, CaseIterable { case request, requestStream, data, file, stream }

  private static func describe(_ request: ReceivedRequest) -> Reply {
    let names = ["Authorization", "Cookie", "X-Api-Key", "X-Own", "X-Session"].filter { request.fields.contains($0) }
    return .text("\(request.method) \(names) \(String(decoding: request.body, as: UTF8.self))")
  }

  private func request(_ text: String, _ method: String = "GET") throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: text)))
    request.httpMethod = method
    return request
  }

  private func makeTask(_ source: Source, _ request: URLRequest, _ session: URLSession, file: URL) -> URLSessionTask {
    var request = request
    switch source {
    case .request:
      request.httpBody = Data("body".utf8)
      return session.dataTask(with: request)
    case .requestStream:
      request.httpBodyStream = InputStream(data: Data("body".utf8))
      return session.dataTask(with: request)
    case .data: return session.uploadTask(with: request, from: Data("body".utf8))
    case .file: return session.uploadTask(with: request, fromFile: file)
    case .stream: return session.uploadTask(withStreamedRequest: request)
    }
  }

  private func withFile(_ body: (URL) async throws -> Void) async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("lupine-\(UUID()).txt")
    try Data("body".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await body(file)
  }

  @Test("after a redirect from a URL protocol to another origin, fields meant for the first origin aren't sent")
  func boundFields() async throws {
    try await withServer(Self.describe) { origin in
      try await withSession {
        $0.protocolClasses = [Redirecting.self]
        $0.httpAdditionalHeaders = ["Authorization": "Bearer session", "X-Api-Key": "session", "X-Session": "s"]
        $0.redirectRule.secretFields = ["X-Api-Key"]
      } _: { session in
        var same = try request("\(origin.url)/redirect?\(origin.url)/there")
        same.setValue("own", forHTTPHeaderField: "X-Own")
        let kept = try await session.data(for: same).0
        #expect(
          String(decoding: kept, as: UTF8.self) == #"GET ["Authorization", "X-Api-Key", "X-Own", "X-Session"] "#)
        var other = try request("http://first.stub/redirect?\(origin.url)/there")
        other.setValue("own", forHTTPHeaderField: "X-Own")
        other.setValue("c=1", forHTTPHeaderField: "Cookie")
        let removed = try await session.data(for: other).0
        #expect(String(decoding: removed, as: UTF8.self) == #"GET ["X-Own", "X-Session"] "#)
        // The URL protocol redirects the request from a third origin back to the second one.
        let detour = try request(
          "\(origin.url)/redirect?http://first.stub/redirect?\(origin.url)/there")
        let back = try await session.data(for: detour).0
        #expect(String(decoding: back, as: UTF8.self) == #"GET ["X-Session"] "#)
      }
    }
  }

  @Test(
    "if a delegate moves a redirect to another origin, Authorization isn't passed to the URL protocol of that origin")
  func boundFieldsOfChosenRequest() async throws {
    final class FieldNames: URLProtocol, @unchecked Sendable {
      class override func canInit(with request: URLRequest) -> Bool { request.url?.host == "chosen.stub" }

      override func startLoading() {
        guard let url = request.url,
          let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        let names = ["Authorization", "X-Own"].filter { request.value(forHTTPHeaderField: $0) != nil }
        client?.urlProtocol(self, didLoad: Data("\(names)".utf8))
        client?.urlProtocolDidFinishLoading(self)
      }
    }
    final class Moving: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) {
        var moved = request
        moved.url = URL(string: "http://chosen.stub/")
        completionHandler(moved)
      }
    }
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": "/same-origin"])
    } _: { origin in
      try await withSession(delegate: Moving()) {
        $0.protocolClasses = [FieldNames.self]
      } _: { session in
        var request = origin.request()
        request.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        request.setValue("own", forHTTPHeaderField: "X-Own")
        let names = try await session.data(for: request).0
        #expect(String(decoding: names, as: UTF8.self) == #"["X-Own"]"#)
      }
    }
  }

  @Test(
    "after a redirect from a URL protocol, the body is sent again from its start, to a protocol or over the network",
    arguments: Source.allCases, ["there", "echo"])
  func body(source: Source, path: String) async throws {
    let delegate = StreamDelegate()
    try await withServer(Self.describe) { origin in
      try await withFile { file in
        try await withSession(delegate: delegate) {
          $0.protocolClasses = [Redirecting.self, Echo.self]
        } _: { session in
          let request = try request("http://first.stub/redirect?\(origin.url)/\(path)", "PUT")
          makeTask(source, request, session, file: file).resume()
          #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
          let streams = source == .stream ? ["stream", "stream"] : []
          #expect(delegate.notes.all == streams + ["PUT [] body", "end"])
        }
      }
    }
  }

  @Test(
    "if a URL protocol's redirect replaces the body, a second redirect keeps the new body",
    arguments: [Source.request, .data, .file])
  func replacedBody(source: Source) async throws {
    let delegate = StreamDelegate()
    try await withServer(Self.describe) { origin in
      try await withFile { file in
        try await withSession(delegate: delegate) {
          $0.protocolClasses = [Redirecting.self]
        } _: { session in
          let target = "http://second.stub/redirect?\(origin.url)/there"
          var request = try request("http://first.stub/redirect?\(target)", "PUT")
          request.setValue("other", forHTTPHeaderField: "X-Body")
          makeTask(source, request, session, file: file).resume()
          #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
          #expect(delegate.notes.all == ["PUT [] other", "end"])
        }
      }
    }
  }

  @Test(
    "if a URLProtocol reads the request's body stream and then redirects, the session asks its delegate for another one"
  )
  func readStream() async throws {
    let delegate = StreamDelegate()
    try await withServer(Self.describe) { origin in
      try await withSession(delegate: delegate) {
        $0.protocolClasses = [Redirecting.self]
      } _: { session in
        var request = try request("http://first.stub/redirect?\(origin.url)/there", "PUT")
        request.setValue("1", forHTTPHeaderField: "X-Reads")
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        session.dataTask(with: request).resume()
        #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
        #expect(delegate.notes.all == ["stream", "PUT [] body", "end"])
      }
    }
  }

  @Test(
    "if a URL protocol's redirect changes the method to GET, the body isn't sent", arguments: Source.allCases)
  func droppedBody(source: Source) async throws {
    let delegate = StreamDelegate()
    try await withServer(Self.describe) { origin in
      try await withFile { file in
        try await withSession(delegate: delegate) {
          $0.protocolClasses = [Redirecting.self]
        } _: { session in
          var request = try request("http://first.stub/redirect?\(origin.url)/there", "POST")
          request.setValue("GET", forHTTPHeaderField: "X-Next")
          makeTask(source, request, session, file: file).resume()
          #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
          #expect(delegate.notes.all == (source == .stream ? ["stream"] : []) + ["GET [] ", "end"])
        }
      }
    }
  }

  @Test("a streamed upload reaches a URL protocol as a stream, which the delegate provides")
  func streamedUpload() async throws {
    let delegate = StreamDelegate()
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Echo.self]
    } _: { session in
      let task = session.uploadTask(withStreamedRequest: try request("http://first.stub/echo", "POST"))
      task.resume()
      #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
      #expect(delegate.notes.all == ["stream", "POST [] body", "end"])
      #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
    }
  }

  @Test("a streamed upload to a URL protocol fails if the delegate provides no stream")
  func missingStream() async throws {
    let delegate = StreamDelegate(nil)
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Echo.self]
    } _: { session in
      session.uploadTask(withStreamedRequest: try request("http://first.stub/echo", "POST")).resume()
      #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
      #expect(delegate.notes.all == ["stream", "end \(URLError.Code.requestBodyStreamExhausted.rawValue)"])
    }
  }

  @Test("a streamed upload to a URL protocol fails if the delegate provides a stream that was already read")
  func exhaustedStream() async throws {
    final class Delegate: NSObject, URLSessionTaskDelegate, Sendable {
      let notes = Notes()

      func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
      ) {
        let stream = InputStream(data: Data("body".utf8))
        stream.open()
        stream.close()
        completionHandler(stream)
      }

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        notes.add("end \((error as? URLError)?.code.rawValue ?? 0)")
      }
    }
    let delegate = Delegate()
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Echo.self]
    } _: { session in
      session.uploadTask(withStreamedRequest: try request("http://first.stub/echo", "POST")).resume()
      #expect(await settles { !delegate.notes.all.isEmpty })
      #expect(delegate.notes.all == ["end \(URLError.Code.requestBodyStreamExhausted.rawValue)"])
    }
  }

  @Test("redirects that alternate between a URL protocol and a server count together toward the limit")
  func alternatingRedirects() async throws {
    let received = Notes()
    try await withServer { request in
      received.add(request.path)
      // Without a limit, the test fails by its expectation instead of running forever.
      if received.all.count > 30 { return .text("too many") }
      return Reply(
        status: 302, fields: ["Location": "/redirect?http://\(request.fields.first("Host") ?? "")/back"])
    } _: { origin in
      try await withSession {
        $0.protocolClasses = [Redirecting.self]
      } _: { session in
        let first = origin.request("/back")
        #expect(await code { try await session.data(for: first) } == .httpTooManyRedirects)
        #expect(received.all.count == 11)
      }
    }
  }

  @Test("a URL protocol can redirect to a local file from its own scheme, but not from http")
  func localFile() async throws {
    try await withFile { file in
      try await withSession {
        $0.protocolClasses = [Redirecting.self]
      } _: { session in
        let own = try request("app://first/redirect?\(file.absoluteString)")
        #expect(try await session.data(for: own).0 == Data("body".utf8))
        for first in ["http://first.stub", "HTTPS://first.stub"] {
          let request = try request("\(first)/redirect?\(file.absoluteString)")
          #expect(await code { try await session.data(for: request) } == .badServerResponse)
          // The delegate's request has another URL than the refused one.
          let delegate = AddingQuery()
          #expect(await code { try await session.data(for: request, delegate: delegate) } == .unsupportedURL)
        }
      }
    }
  }

  @Test("a URL protocol can't redirect to a local file if a server's redirect led to the protocol")
  func localFileAfterServer() async throws {
    final class Moving: NSObject, URLSessionTaskDelegate, Sendable {
      private let url: URL?

      init(_ url: URL?) { self.url = url }

      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) {
        var moved = request
        if request.url?.scheme == "http" { moved.url = url }
        completionHandler(moved)
      }
    }
    try await withFile { file in
      try await withServer { _ in
        Reply(status: 302, fields: ["Location": "/there"])
      } _: { origin in
        try await withSession(delegate: Moving(URL(string: "app://first/redirect?\(file.absoluteString)"))) {
          $0.protocolClasses = [Redirecting.self]
        } _: { session in
          #expect(await code { try await session.data(for: origin.request()) } == .badServerResponse)
        }
      }
    }
  }
}
