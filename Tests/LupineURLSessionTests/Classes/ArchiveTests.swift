// Classes that programs archive, copy and compare.

import Foundation
import LupineEngine
import Testing

@testable import LupineURLSession

/// Archives the object with NSKeyedArchiver, and returns the object that is decoded from the archive.
private func decoded<Value: NSObject & NSSecureCoding>(_ value: Value) throws -> Value? {
  let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  return try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data)
}

@Suite struct ArchiveTests {
  private let url: URL

  init() throws { url = try #require(URL(string: "https://h.example/a?b=c")) }

  @Test("a URLCredential with a password can be archived and copied", arguments: ["secret", "", "pässword"])
  func credential(password: String) throws {
    let credential = URLCredential(user: "üser", password: password, persistence: .permanent)
    let other = try #require(try decoded(credential))
    #expect(other == credential && other.hash == credential.hash && other !== credential)
    #expect(other.user == "üser" && other.password == password && other.persistence == .permanent)
    #expect(credential.copy() as? URLCredential === credential)
    #expect(other != URLCredential(user: "üser", password: password, persistence: .forSession))
  }

  @Test("a URLProtectionSpace of a server or a proxy can be archived and copied")
  func protectionSpace() throws {
    let spaces = [
      URLProtectionSpace(
        host: "h.example", port: 0, protocol: "https", realm: "r",
        authenticationMethod: NSURLAuthenticationMethodHTTPDigest),
      URLProtectionSpace(host: "::1", port: 8080, protocol: "http", realm: nil, authenticationMethod: nil),
      URLProtectionSpace(
        proxyHost: "p.example", port: 3128, type: NSURLProtectionSpaceHTTPSProxy, realm: "r",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
    ]
    for space in spaces {
      let other = try #require(try decoded(space))
      #expect(other == space && other.hash == space.hash && other.description == space.description)
      #expect(other.port == space.port && other.isProxy() == space.isProxy() && other.realm == space.realm)
      #expect(space.copy() as? URLProtectionSpace === space)
    }
    #expect(try decoded(spaces[0]) != spaces[2])
  }

  @Test("a URLRequest can be archived with all properties except a body stream, and unset properties stay unset")
  func request() throws {
    let plain = NSURLRequest(url: url)
    #expect(try decoded(plain) == plain)
    let full = NSMutableURLRequest(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 7.5)
    full.httpMethod = "PATCH"
    full.setValue("1", forHTTPHeaderField: "x-First")
    full.setValue("ü", forHTTPHeaderField: "A-Second")
    full.httpBody = Data([0, 255, 10])
    full.mainDocumentURL = URL(string: "https://main.example/")
    full.httpShouldHandleCookies = false
    full.httpShouldUsePipelining = true
    full.allowsCellularAccess = false
    full.allowsExpensiveNetworkAccess = false
    full.allowsConstrainedNetworkAccess = false
    full.networkServiceType = .networkServiceTypeCallSignaling
    let other = try #require(try decoded(full))
    #expect(other == full && other.hash == full.hash && other !== full)
    #expect(other.httpBody == full.httpBody && other.timeoutInterval == 7.5 && other.httpMethod == "PATCH")
    #expect(URLRequest(other).fields.map(\.name) == ["x-First", "A-Second"])
    other.url = nil
    #expect(try decoded(other)?.url == nil)
    full.httpBodyStream = InputStream(data: Data())
    let streamless = try #require(try decoded(full))
    #expect(streamless.httpBody == nil && streamless.httpBodyStream == nil)
  }

  @Test("unarchiving a request, a credential or a protection space from other bytes fails")
  func damaged() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(NSString(string: "h"), forKey: "host")
    archiver.encode(NSString(string: "GET"), forKey: "method")
    archiver.encode(NSArray(array: [NSString(string: "name without value")]), forKey: "fields")
    archiver.encode(NSString(string: "u"), forKey: "user")
    archiver.encode(99, forKey: "persistence")
    archiver.finishEncoding()
    let data = archiver.encodedData
    let reader = try NSKeyedUnarchiver(forReadingFrom: data)
    reader.decodingFailurePolicy = .setErrorAndReturn
    #expect(NSURLRequest(coder: reader) == nil)
    #expect(URLProtectionSpace(coder: reader) == nil)
    #expect(URLCredential(coder: reader) == nil)
  }

  @Test("CachedURLResponses are compared and hashed by their heads, bodies and storage policies")
  func cachedResponse() throws {
    func response(_ body: String, _ policy: URLCache.StoragePolicy = .allowed, mark: String? = nil) -> CachedURLResponse
    {
      let head = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 1, textEncodingName: nil)
      return CachedURLResponse(
        response: head, data: Data(body.utf8), userInfo: mark.map { ["mark": $0] }, storagePolicy: policy)
    }
    let one = response("a")
    #expect(one == response("a", mark: "x") && one.hash == response("a").hash)
    #expect(one != response("b") && one != response("a", .notAllowed))
    #expect(one.copy() as? CachedURLResponse === one)
  }
}
