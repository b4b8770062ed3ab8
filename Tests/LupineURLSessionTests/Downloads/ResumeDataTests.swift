// `ResumeData`: when a download can be resumed, with which request, and which bytes are kept.

import Foundation
import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct ResumeDataTests {
  private static let url = "https://h/large?x=1"
  private static let file = URL(filePath: "/tmp/\(DownloadFileName.random())")
  /// The local clock's time in these tests, 2026-01-15 12:00:00 GMT, in seconds since 1970.
  private static let now: Int64 = 1_768_478_400
  private static let lastModified = "Thu, 15 Jan 2026 11:00:00 GMT"

  private static func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

  private func response(
    _ fields: [String: String], status: Int = 200, isContentDecoded: Bool = false
  ) throws -> HTTPURLResponse {
    HTTPURLResponse(
      url: try #require(URL(string: Self.url)), statusCode: status, fields: Fields(fields),
      isContentDecoded: isContentDecoded)
  }

  /// Returns the resume data for a download whose response has the fields Accept-Ranges, ETag and Content-Length. `fields`
  /// replaces or adds fields; an empty value removes a field. Returns nil if the download can't be resumed.
  private func made(
    _ fields: [String: String] = [:], status: Int = 200, isContentDecoded: Bool = false, received: UInt64 = 50,
    changing change: (inout URLRequest) -> Void = { _ in }
  ) throws -> ResumeData? {
    var request = try Self.request()
    change(&request)
    let all = ["Accept-Ranges": "bytes", "ETag": "\"v1\"", "Content-Length": "100"].merging(fields) { $1 }
      .filter { !$0.value.isEmpty }
    return ResumeData.make(
      request: request, response: try response(all, status: status, isContentDecoded: isContentDecoded),
      file: Self.file, receivedByteCount: received,
      now: Self.now)
  }

  @Test("resume data contains the request, the validator, the path of the partial file and the byte counts")
  func resumable() throws {
    let resumeData = try #require(
      try made {
        $0.allHTTPHeaderFields = [
          "Authorization": "Bearer t", "X-A": "1", "Accept-Encoding": "br, gzip", "If-Range": "\"v0\"",
        ]
        $0.timeoutInterval = 7
        $0.httpShouldHandleCookies = false
        $0.mainDocumentURL = URL(string: "https://h/main")
      })
    #expect(resumeData.validator == .entityTag("\"v1\""))
    #expect(resumeData.path == Self.file.path)
    #expect(resumeData.receivedByteCount == 50 && resumeData.totalByteCount == 100)

    let request = resumeData.makeRequest()
    #expect(request.url?.absoluteString == Self.url && request.httpMethod == "GET")
    #expect(
      request.allHTTPHeaderFields == [
        "Authorization": "Bearer t", "X-A": "1", "Accept-Encoding": "identity", "If-Range": "\"v1\"",
        "Range": "bytes=50-",
      ])
    #expect(request.explicitTimeoutInterval == 7 && !request.httpShouldHandleCookies)
    #expect(request.mainDocumentURL?.absoluteString == "https://h/main")

    let fresh = resumeData.makeFreshRequest()
    #expect(
      fresh.allHTTPHeaderFields == ["Authorization": "Bearer t", "X-A": "1", "Accept-Encoding": "br, gzip"])
  }

  @Test("a download that can't be resumed produces no resume data")
  func unresumable() throws {
    #expect(try made() != nil)
    #expect(try made(received: 0) == nil)
    #expect(try made(["Accept-Ranges": ""]) == nil)
    #expect(try made(["Accept-Ranges": "none"]) == nil)
    #expect(try made(["Accept-Ranges": "bytesize"]) == nil)
    #expect(try made(["ETag": ""]) == nil)
    for status in [201, 203, 204, 206, 304, 401, 404, 416, 500] { #expect(try made(status: status) == nil) }
    #expect(try made(isContentDecoded: true) == nil)
    for method in ["POST", "HEAD", "PUT", "DELETE", "QUERY"] {
      #expect(try made { $0.httpMethod = method } == nil)
    }
    #expect(try made { $0.httpBody = Data([1]) } == nil)
    #expect(try made { $0.setValue("bytes=10-", forHTTPHeaderField: "range") } == nil)
  }

  @Test(
    "resume data is produced even if Accept-Ranges has several units, the body stays encoded or its length is unknown")
  func resumableToo() throws {
    #expect(try made(["Accept-Ranges": "items, Bytes"]) != nil)
    // No coding was decoded, so offsets in the file are offsets in the representation.
    for coding in ["identity", "aws-chunked", "gzip"] { #expect(try made(["Content-Encoding": coding]) != nil) }
    let resumeData = try #require(try made(["Content-Length": ""]))
    #expect(resumeData.totalByteCount == nil)
  }

  @Test("resume data preserves a disabled timeout, and is produced only for a download's temporary file")
  func kept() throws {
    for timeout in [TimeInterval.infinity, 0] {
      #expect(try made { $0.timeoutInterval = timeout }?.makeRequest().explicitTimeoutInterval == 0)
    }
    let response = try response(["ETag": "\"1\"", "Accept-Ranges": "bytes"])
    let request = try Self.request()
    for (file, canBe) in [(Self.file, true), (URL(filePath: "/tmp/file"), false)] {
      let resumeData = ResumeData.make(
        request: request, response: response, file: file, receivedByteCount: 5, now: Self.now)
      #expect((resumeData != nil) == canBe)
    }
  }

  @Test("resume data preserves the request's options, and isn't produced for a request with connection settings")
  func options() throws {
    func change(_ request: inout URLRequest) {
      request.allowsCellularAccess = false
      request.allowsExpensiveNetworkAccess = true
      request.allowsConstrainedNetworkAccess = false
      request.httpShouldUsePipelining = true
      request.networkServiceType = .background
      request.lupine.bodyBytesMax = 1_000
      request.lupine.priority = 0.1
      request.lupine.timeouts = Timeouts(everyPhase: .seconds(20), total: .milliseconds(1_500))
    }
    var original = try Self.request()
    change(&original)
    let produced = try #require(try made(changing: change))
    let resumeData = try ResumeData(try #require(produced.serialized))
    #expect(resumeData == produced)
    for request in [resumeData.makeRequest(), resumeData.makeFreshRequest()] {
      #expect(request.options == original.options)
    }
    #expect(try made { $0.lupine.proxy = ProxySettings.none } == nil)
    #expect(try made { $0.lupine.tls = TLSConfiguration() } == nil)
    #expect(try made { $0.lupine.hostOverrides = [HostOverride(host: "h", addresses: [])] } == nil)
  }

  @Test(
    "if the entity tag is weak or malformed, no resume data is produced, even if there is a Last-Modified date",
    arguments: [
      "W/\"v1\"", "w/\"v1\"", "v1", "\"", "\"v1", "\"v1\", \"v2\"", "\"a b\"", "\"\u{7F}\"", "\"é\"", "\"a\nb\"",
    ])
  func notStrong(tag: String) throws {
    #expect(try made(["ETag": tag, "Last-Modified": Self.lastModified]) == nil)
  }

  @Test("resume data accepts an empty entity tag, and an entity tag with any visible character, as a validator")
  func tags() throws {
    for tag in ["\"\"", "\"W/x\"", "\"!#~'<>\\\""] {
      #expect(try made(["ETag": tag])?.validator == .entityTag(tag))
    }
  }

  @Test(
    "resume data uses Last-Modified only if it is at least 1 s before Date or, without Date, at least 60 s in the past",
    arguments: [
      ("Thu, 15 Jan 2026 12:00:01 GMT", "Thu, 15 Jan 2026 12:00:02 GMT", true),
      ("Thu, 15 Jan 2026 12:00:02 GMT", "Thu, 15 Jan 2026 12:00:02 GMT", false),
      ("Thu, 15 Jan 2026 12:00:03 GMT", "Thu, 15 Jan 2026 12:00:02 GMT", false),
      ("Wed, 21 Oct 2015 07:28:00 GMT", "Thu, 15 Jan 2026 12:00:02 GMT", true),
      ("Wednesday, 21-Oct-15 07:28:00 GMT", "Thu, 15 Jan 2026 12:00:02 GMT", true),
      // Without a valid Date, the local clock is used. It shows 12:00:00.
      ("Thu, 15 Jan 2026 11:59:00 GMT", "", true), ("Thu, 15 Jan 2026 11:59:01 GMT", "", false),
      ("Thu, 15 Jan 2026 11:59:00 GMT", "now", true), ("Fri, 16 Jan 2026 11:59:00 GMT", "", false),
      ("yesterday", "Thu, 15 Jan 2026 12:00:02 GMT", false), ("", "Thu, 15 Jan 2026 12:00:02 GMT", false),
    ])
  func dates(lastModified: String, date: String, isStrong: Bool) throws {
    let resumeData = try made(["ETag": "", "Last-Modified": lastModified, "Date": date])
    #expect((resumeData != nil) == isStrong)
    guard let resumeData else { return }
    #expect(resumeData.validator == .lastModified(lastModified))
    #expect(resumeData.makeRequest().value(forHTTPHeaderField: "If-Range") == lastModified)
  }

  @Test("the resume data of a download that was already resumed contains the original request and the new byte count")
  func again() throws {
    let earlier = try #require(try made { $0.allHTTPHeaderFields = ["X-A": "1", "Accept-Encoding": "gzip"] })
    let fields = ["Content-Range": "bytes 50-99/100", "Content-Length": "50", "ETag": "\"v1\""]
    let part = try response(fields, status: 206)
    let resumeData = try #require(
      ResumeData.make(
        request: earlier.makeRequest(), response: part, file: Self.file, receivedByteCount: 70, earlier: earlier,
        now: Self.now))
    #expect(resumeData.receivedByteCount == 70 && resumeData.totalByteCount == 100)
    #expect(resumeData.validator == earlier.validator)
    #expect(resumeData.makeFreshRequest() == earlier.makeFreshRequest())
    #expect(resumeData.makeRequest().value(forHTTPHeaderField: "Range") == "bytes=70-")
    // A 206 at another offset gives no resume data.
    let other = try response(["Content-Range": "bytes 60-99/100"], status: 206)
    #expect(
      ResumeData.make(
        request: earlier.makeRequest(), response: other, file: Self.file, receivedByteCount: 70, earlier: earlier,
        now: Self.now) == nil)
  }

  @Test("a resumed download's earlier resume data remains usable until a response changes the partial file")
  func earlierStays() throws {
    let earlier = try #require(try made { $0.allHTTPHeaderFields = ["X-A": "1"] })
    func next(_ response: HTTPURLResponse?, received: UInt64) -> ResumeData? {
      ResumeData.make(
        request: earlier.makeRequest(), response: response, file: Self.file, receivedByteCount: received,
        earlier: earlier, now: Self.now)
    }
    #expect(next(nil, received: 50) == earlier)
    #expect(try next(response([:], status: 503), received: 3) == earlier)
    let changed = try response(["ETag": "\"v2\"", "Accept-Ranges": "bytes", "Content-Length": "80"])
    let resumeData = try #require(next(changed, received: 20))
    #expect(resumeData.validator == .entityTag("\"v2\""))
    #expect(resumeData.receivedByteCount == 20 && resumeData.totalByteCount == 80)
    #expect(resumeData.makeFreshRequest() == earlier.makeFreshRequest())
    #expect(next(changed, received: 0) == nil)
    #expect(
      ResumeData.make(
        request: earlier.makeFreshRequest(), response: nil, file: Self.file, receivedByteCount: 5) == nil)
  }
}
