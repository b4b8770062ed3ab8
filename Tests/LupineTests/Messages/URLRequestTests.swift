// URLRequestTests: `URLRequest`, the types that convert to one, and `URLSessionConfiguration`.

import Foundation
import LupineEngine
import Testing

@testable import Lupine
@testable import LupineURLSession

struct URLRequestTests {
  private let url = URL(filePath: "/").absoluteURL
  private let request = URLRequest(url: URL(filePath: "/x"))

  @Test("by default, a URLRequest is a GET without fields or a body, and uses the session's timeout")
  func fresh() {
    #expect(request.httpMethod == "GET")
    #expect(request.method == .get)
    #expect(request.allHTTPHeaderFields == nil)
    #expect(request.httpBody == nil)
    #expect(request.timeoutInterval == 60)
    #expect(request.explicitTimeoutInterval == nil)
    #expect(request.description == "file:///x")
  }

  @Test("a timeout set on a URLRequest takes precedence over the session's, even if it is the default value")
  func timeout() {
    #expect(URLRequest(url: url, timeoutInterval: 60).explicitTimeoutInterval == 60)
    var copy = request
    copy.timeoutInterval = 2.5
    #expect(copy.explicitTimeoutInterval == 2.5)
  }

  @Test(
    "URLRequest.httpMethod converts the six methods known to Foundation to uppercase, and leaves others unchanged",
    arguments: [
      ("post", "POST"), ("Delete", "DELETE"), ("patch", "patch"), ("PURGE", "PURGE"), (nil, "GET"),
    ] as [(String?, String)])
  func method(set: String?, read: String) {
    var copy = request
    copy.httpMethod = set
    #expect(copy.httpMethod == read)
  }

  @Test("a URLRequest and an NSURLRequest are created with an absolute URL, and keep a relative URL that is set later")
  func relativeURL() throws {
    let base = try #require(URL(string: "http://example.org/a/"))
    let relative = try #require(URL(string: "get", relativeTo: base))
    for created in [
      URLRequest(url: relative), URLRequest(url: relative, cachePolicy: .reloadIgnoringLocalCacheData),
      URLRequest(url: relative, timeoutInterval: 1),
    ] {
      #expect(created.url?.baseURL == nil && created.url?.description == "http://example.org/a/get")
    }
    #expect(NSURLRequest(url: relative).url?.description == "http://example.org/a/get")
    var request = URLRequest(url: base)
    request.url = relative
    #expect(request.url?.baseURL == base)
    #expect(NSMutableURLRequest(request).description == "http://example.org/a/get")
    request.url = nil
    #expect(request.description == "url: nil" && NSURLRequest(request).description.contains("(null)"))
  }

  @Test("as converts between URLRequest and NSURLRequest, and keeps the properties that a URLProtocol has set")
  func bridging() throws {
    var request = URLRequest(url: try #require(URL(string: "http://example.org/")))
    request.httpMethod = "PUT"
    let mutable = try #require((request as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
    URLProtocol.setProperty(1, forKey: "key", in: mutable)
    mutable.setValue("b", forHTTPHeaderField: "A")
    let changed = mutable as URLRequest
    #expect(changed.httpMethod == "PUT" && changed.value(forHTTPHeaderField: "A") == "b")
    #expect(URLProtocol.property(forKey: "key", in: changed) as? Int == 1)
    let any: Any = request as NSURLRequest
    #expect(any as? URLRequest == request && (request as Any) as? NSURLRequest == request as NSURLRequest)
  }

  @Test("the hash of a URLRequest depends on its main document URL and on its body's stream")
  func hash() throws {
    let base = URLRequest(url: try #require(URL(string: "http://example.org/")))
    var (documents, streams): (Set<Int>, Set<Int>) = ([], [])
    for number in 0..<10 {
      var request = base
      request.mainDocumentURL = URL(string: "http://example.org/\(number)")
      documents.insert(request.hashValue)
      request = base
      request.httpBodyStream = InputStream(data: Data([1]))
      streams.insert(request.hashValue)
    }
    #expect(documents.count > 1 && streams.count > 1)
  }

  @Test("URLRequests that differ only in httpShouldHandleCookies or mainDocumentURL aren't equal")
  func cookies() throws {
    let request = URLRequest(url: try "https://example.com/".asURL())
    #expect(request.httpShouldHandleCookies && request.mainDocumentURL == nil)
    var other = request
    other.httpShouldHandleCookies = false
    #expect(other != request)
    other = request
    other.mainDocumentURL = request.url
    #expect(other != request)
  }

  @Test(
    "a URLRequest preserves its fields' order, joins the values added to a field, and removes a field that is set to nil"
  )
  func fields() {
    var copy = request
    copy.setValue("1", forHTTPHeaderField: "z")
    copy.setValue("2", forHTTPHeaderField: "a")
    copy.addValue("3", forHTTPHeaderField: "Z")
    copy.addValue("4", forHTTPHeaderField: "m")
    #expect(copy.headers.description == "z: 1,3\na: 2\nm: 4")
    #expect(copy.value(forHTTPHeaderField: "A") == "2")
    copy.setValue(nil, forHTTPHeaderField: "Z")
    #expect(copy.allHTTPHeaderFields == ["a": "2", "m": "4"])
    copy.allHTTPHeaderFields = ["b": "1"]
    #expect(copy.headers == ["b": "1"])
    copy.allHTTPHeaderFields = nil
    #expect(copy == request)
  }

  @Test(
    "setting either the body or the body stream of a URLRequest removes the other one, even if the new value is nil")
  func bodies() {
    var copy = request
    let stream = InputStream(data: Data("stream".utf8))
    copy.httpBody = Data("bytes".utf8)
    copy.httpBodyStream = stream
    #expect(copy.httpBodyStream === stream && copy.httpBody == nil)
    copy.httpBody = Data("bytes".utf8)
    #expect(copy.httpBodyStream == nil && copy.httpBody == Data("bytes".utf8))
    copy.httpBodyStream = nil
    #expect(copy.httpBody == nil && copy == request)
    copy.httpBodyStream = stream
    copy.httpBody = nil
    #expect(copy.httpBodyStream == nil && copy == request)
  }

  @Test(
    "URLRequests with the same body stream object are equal, but not those with different streams of the same bytes")
  func streams() {
    let stream = InputStream(data: Data("same".utf8))
    var (one, two) = (request, request)
    one.httpBodyStream = stream
    #expect(one != two)
    two.httpBodyStream = stream
    #expect(one == two && one.hashValue == two.hashValue)
    two.httpBodyStream = InputStream(data: Data("same".utf8))
    #expect(one != two)
    // A request and its copy share one stream. Bytes that are read through one request can't be read through the other.
    let copy = one
    #expect(copy.httpBodyStream === stream && stream.streamStatus == .notOpen)
  }

  @Test("asURL converts strings, URLs and URLComponents to a URL")
  func convertible() throws {
    #expect(try "https://h/p".asURL().absoluteString == "https://h/p")
    #expect(try url.asURL() == url)
    #expect(try URLComponents(string: "https://h/p?q=1")?.asURL().absoluteString == "https://h/p?q=1")
  }

  @Test(
    "asURL refuses a backslash in the authority, where browsers read another host, and accepts it elsewhere",
    arguments: [
      (#"http://a.test\@b.test/"#, false), (#"HTTPS://u:p\@b.test"#, false), (#"//a.test\@b.test/"#, false),
      (#"http://a.test\?@b.test/"#, false), (#"http://a.test/\@b.test/"#, true), (#"http://a.test?\@b.test/"#, true),
      (#"http://a.test#\@b.test/"#, true), ("http://u%5Cv@b.test/", true), (#"/path\x"#, true),
    ])
  func backslash(text: String, isAccepted: Bool) throws {
    let url = try? text.asURL()
    #expect((url != nil) == isAccepted)
    #expect((ParsedURL.kept(text) == nil) || isAccepted)
    #expect((URL(unambiguous: text) != nil) == isAccepted)
  }

  @Test("asURL throws invalidURL with the value that isn't a valid URL")
  func notConvertible() throws {
    var components = URLComponents()
    components.host = "h"
    components.path = "relative"
    for broken in ["", components] as [any URLConvertible] {
      let error = #expect(throws: AFError.self) { _ = try URLRequest(url: broken, method: .get) }
      #expect(error?.isInvalidURLError == true)
      #expect(error?.urlConvertible.map { "\($0)" } == "\(broken)")
    }
  }

  @Test("a URLRequest can be created from a URL, a method and fields, and asURLRequest returns the same request")
  func initialize() throws {
    let made = try URLRequest(url: "https://h/", method: .post, headers: ["A": "1"])
    #expect(made.method == .post)
    #expect(made.headers == ["A": "1"])
    #expect(try made.asURLRequest() == made)
    #expect(made.urlRequest == made)
    #expect(try URLRequest(url: "https://h/", method: .query).headers.isEmpty)
    #expect(try URLRequest(url: "https://h/", method: .get).allHTTPHeaderFields == nil)
    #expect(try URLRequest(url: "https://h/", method: .get, headers: [:]).allHTTPHeaderFields == [:])
  }

  @Test("validating a URLRequest refuses a GET request with a body, and nothing else")
  func validation() throws {
    var copy = request
    try copy.validate()
    copy.httpBody = Data("ab".utf8)
    let error = #expect(throws: AFError.self) { try copy.validate() }
    guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let body)) = error else {
      Issue.record("The error isn't bodyDataInGETRequest: \(String(describing: error))")
      return
    }
    #expect(body == copy.httpBody)
    copy.method = .post
    try copy.validate()
  }
}

struct URLSessionConfigurationTests {
  @Test("each access to URLSessionConfiguration.default returns a new object with the default values")
  func defaults() {
    let changed = URLSessionConfiguration.default
    changed.timeoutIntervalForRequest = 1
    let fresh = URLSessionConfiguration.default
    #expect(fresh !== changed)
    #expect(fresh.timeoutIntervalForRequest == 60)
    #expect(fresh.timeoutIntervalForResource == 604_800)
    #expect(fresh.httpMaximumConnectionsPerHost == 6)
    #expect(fresh.httpAdditionalHeaders == nil)
    #expect(fresh.headers.isEmpty)
  }

  @Test("changing a URLSessionConfiguration doesn't change a copy of the configuration")
  func copying() throws {
    let original = URLSessionConfiguration.ephemeral
    original.httpMaximumConnectionsPerHost = 0
    let copy = try #require(original.copy() as? URLSessionConfiguration)
    original.httpMaximumConnectionsPerHost = 9
    #expect(copy.httpMaximumConnectionsPerHost == 1)
    #expect(original.snapshot.engine.pool.connectionsPerOriginMax == 9)
  }

  @Test("the default configuration uses the shared credential storage, and each ephemeral configuration its own")
  func credentialStorage() throws {
    #expect(URLSessionConfiguration.default.urlCredentialStorage === URLCredentialStorage.shared)
    let ephemeral = URLSessionConfiguration.ephemeral
    let own = try #require(ephemeral.urlCredentialStorage)
    #expect(own !== URLCredentialStorage.shared && own !== URLSessionConfiguration.ephemeral.urlCredentialStorage)
    #expect((ephemeral.copy() as? URLSessionConfiguration)?.urlCredentialStorage === own)
    ephemeral.urlCredentialStorage = nil
    #expect(ephemeral.urlCredentialStorage == nil && ephemeral.snapshot.credentialStorage == nil)
  }

  @Test("default and ephemeral configurations have neither a background identifier nor protocol classes")
  func absences() {
    for configuration in [URLSessionConfiguration.default, .ephemeral, .af.default] {
      #expect(configuration.identifier == nil && configuration.protocolClasses?.isEmpty == true)
    }
  }

  @Test("values in httpAdditionalHeaders are converted to strings, and fields set with headers keep their order")
  func headers() {
    let configuration = URLSessionConfiguration.default
    configuration.httpAdditionalHeaders = ["b": 1, "a": "2"]
    #expect(configuration.headers.description == "a: 2\nb: 1")
    configuration.headers = ["z": "1", "a": "2"]
    #expect(configuration.additionalFields?.map(\.name) == ["z", "a"])
    #expect(configuration.httpAdditionalHeaders as? [String: String] == ["z": "1", "a": "2"])
    configuration.httpAdditionalHeaders = nil
    #expect(configuration.additionalFields == nil)
  }

  @Test("the session configurations in the af namespace contain Alamofire's default header fields")
  func extensionPoint() {
    #expect(URLSessionConfiguration.af.default.headers == .default)
    #expect(URLSessionConfiguration.af.ephemeral.headers == .default)
    #expect(URLSessionConfiguration.default.af.type.headers.isEmpty)
  }
}
