// Credentials, protection spaces, and the storage of credentials by protection space.

import Foundation
import Synchronization
import Testing

@testable import LupineURLSession

@Suite struct CredentialTests {
  private let space = URLProtectionSpace(
    host: "h.example", port: 80, protocol: "http", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)

  private func credential(
    _ user: String = "u", _ password: String = "p", _ persistence: URLCredential.Persistence = .forSession
  ) -> URLCredential {
    URLCredential(user: user, password: password, persistence: persistence)
  }

  @Test("URLCredentials are equal if all their properties are equal, and a credential's description omits the password")
  func credentials() {
    let one = credential("me", "secret-word")
    #expect(one.user == "me" && one.password == "secret-word" && one.hasPassword && one.persistence == .forSession)
    #expect(one == credential("me", "secret-word") && one.hash == credential("me", "secret-word").hash)
    #expect(one != credential("you", "secret-word") && one != credential("me", "other"))
    #expect(one != credential("me", "secret-word", .permanent) && !one.isEqual("me"))
    var dumped = ""
    dump(one, to: &dumped)
    for text in ["\(one)", String(reflecting: one), one.debugDescription, dumped] {
      #expect(!text.contains("secret-word"))
    }
    #expect("\(one)".contains("me"))
  }

  @Test("URLProtectionSpaces are equal if their server, realm and authentication method are equal")
  func spaces() {
    func space(
      _ host: String = "h", _ port: Int = 80, _ scheme: String? = "http", _ realm: String? = "r",
      _ method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
      URLProtectionSpace(host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
    }
    #expect(space() == space("H", 80, "HTTP") && space().hash == space("H", 80, "HTTP").hash)
    let others = [
      space("i"), space("h", 81), space("h", 80, "https"), space("h", 80, nil), space("h", 80, "http", "R"),
      space("h", 80, "http", nil), space("h", 80, "http", "r", NSURLAuthenticationMethodHTTPDigest),
      space("h", 80, "http", "r", nil),
      URLProtectionSpace(
        proxyHost: "h", port: 80, type: NSURLProtectionSpaceHTTPProxy, realm: "r",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
    ]
    for other in others { #expect(space() != other) }
    #expect(Set(others).count == others.count)
    #expect(space("h", 80, "http", "r", nil).authenticationMethod == NSURLAuthenticationMethodDefault)
  }

  @Test(
    "a protection space created with port 0 has the protocol's default port",
    arguments: [("http", 80), ("HTTPS", 443), ("ftp", 0), (nil, 0)] as [(String?, Int)])
  func defaultPort(scheme: String?, port: Int) {
    let space = URLProtectionSpace(host: "h", port: 0, protocol: scheme, realm: nil, authenticationMethod: nil)
    #expect(space.port == port && space.protocol == scheme && !space.isProxy() && space.proxyType == nil)
  }

  @Test("the protection space of a proxy has a proxy type, and no protocol")
  func proxy() {
    let proxy = URLProtectionSpace(
      proxyHost: "p", port: 0, type: NSURLProtectionSpaceSOCKSProxy, realm: nil, authenticationMethod: nil)
    #expect(proxy.isProxy() && proxy.proxyType == NSURLProtectionSpaceSOCKSProxy && proxy.protocol == nil)
    #expect(proxy.host == "p" && proxy.port == 0)
    let untyped = URLProtectionSpace(proxyHost: "p", port: 1, type: nil, realm: nil, authenticationMethod: nil)
    #expect(untyped.isProxy())
  }

  @Test(
    "receivesCredentialSecurely is true if the protection space uses TLS or a method that doesn't send the password")
  func security() {
    func isSecure(_ scheme: String, _ method: String) -> Bool {
      URLProtectionSpace(host: "h", port: 0, protocol: scheme, realm: nil, authenticationMethod: method)
        .receivesCredentialSecurely
    }
    #expect(isSecure(NSURLProtectionSpaceHTTPS, NSURLAuthenticationMethodHTTPBasic))
    #expect(isSecure("HTTPS", NSURLAuthenticationMethodDefault))
    #expect(!isSecure(NSURLProtectionSpaceHTTP, NSURLAuthenticationMethodHTTPBasic))
    #expect(!isSecure("http", NSURLAuthenticationMethodHTMLForm))
    for method in [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ] {
      #expect(isSecure("http", method))
    }
    let proxy = URLProtectionSpace(
      proxyHost: "p", port: 1, type: NSURLProtectionSpaceHTTPSProxy, realm: nil,
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    #expect(!proxy.receivesCredentialSecurely)
  }

  // MARK: Storage

  @Test(
    "URLCredentialStorage stores credentials by protection space and user; a space's first credential becomes the default"
  )
  func storage() {
    let storage = URLCredentialStorage()
    #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
    storage.set(credential("a"), for: space)
    #expect(storage.defaultCredential(for: space) == credential("a"))
    storage.set(credential("c"), for: space)
    storage.remove(credential("c"), for: space)
    #expect(storage.defaultCredential(for: space) == credential("a"))
    storage.setDefaultCredential(credential("b"), for: space)
    storage.set(credential("a", "new", .permanent), for: space)
    #expect(storage.credentials(for: space) == ["a": credential("a", "new", .permanent), "b": credential("b")])
    #expect(storage.defaultCredential(for: space) == credential("b"))
    #expect(storage.allCredentials == [space: ["a": credential("a", "new", .permanent), "b": credential("b")]])

    let other = URLProtectionSpace(
      host: "h.example", port: 80, protocol: "http", realm: "other", authenticationMethod: space.authenticationMethod)
    #expect(storage.defaultCredential(for: other) == nil && storage.credentials(for: other) == nil)
    // A new password for the user of the default credential changes the default credential, too.
    storage.set(credential("b", "new"), for: space)
    #expect(storage.defaultCredential(for: space)?.password == "new")
  }

  @Test(
    "removing the default credential leaves no default, and a stored credential with another password isn't removed")
  func removal() {
    let storage = URLCredentialStorage()
    storage.setDefaultCredential(credential("a"), for: space)
    storage.set(credential("b"), for: space)
    storage.remove(credential("a", "other"), for: space)
    storage.remove(credential("c"), for: space)
    #expect(storage.defaultCredential(for: space) == credential("a"))
    storage.remove(credential("a"), for: space)
    #expect(storage.defaultCredential(for: space) == nil && storage.credentials(for: space) == ["b": credential("b")])
    storage.remove(credential("b"), for: space, options: ["any": NSNumber(value: true)])
    #expect(storage.credentials(for: space) == nil && storage.allCredentials.isEmpty)
    storage.remove(credential("b"), for: space)
  }

  @Test("URLCredentialStorage doesn't store a credential with the persistence none, and stores all others in memory")
  func persistence() {
    let storage = URLCredentialStorage()
    storage.set(credential("a", "p", .none), for: space)
    storage.setDefaultCredential(credential("a", "p", .none), for: space)
    #expect(storage.allCredentials.isEmpty && storage.defaultCredential(for: space) == nil)
    for raw in 1...3 as ClosedRange<UInt> {
      guard let persistence = URLCredential.Persistence(rawValue: raw) else { Issue.record("\(raw)"); continue }
      storage.setDefaultCredential(credential("u\(raw)", "p", persistence), for: space)
      #expect(storage.defaultCredential(for: space)?.persistence == persistence)
    }
    #expect(storage.credentials(for: space)?.count == 3)
  }

  @Test(
    "URLCredentialStorage removes a synchronizable credential only if the option for removing such credentials is true")
  func synchronizable() throws {
    let storage = URLCredentialStorage()
    let synchronizable = credential("a", "p", try #require(URLCredential.Persistence(rawValue: 3)))
    storage.set(synchronizable, for: space)
    let key = NSURLCredentialStorageRemoveSynchronizableCredentials
    for options in [nil, [:], [key: NSNumber(value: false)]] as [[String: AnyObject]?] {
      storage.remove(synchronizable, for: space, options: options)
    }
    storage.remove(synchronizable, for: space)
    #expect(storage.credentials(for: space)?.count == 1)
    storage.remove(synchronizable, for: space, options: [key: NSNumber(value: true)])
    #expect(storage.credentials(for: space) == nil)
  }

  @Test("URLCredentialStorage posts a notification for each change, and none for a call that changes nothing")
  func notifications() {
    let storage = URLCredentialStorage()
    let count = Mutex(0)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
    ) { _ in
      // The storage posts the notification without a lock, so the observer can call the storage.
      _ = storage.allCredentials
      count.withLock { $0 += 1 }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    func expectChange(_ isExpected: Bool, _ change: () -> Void) {
      let before = count.withLock { $0 }
      change()
      #expect(count.withLock { $0 } == before + (isExpected ? 1 : 0))
    }
    expectChange(true) { storage.set(credential("a"), for: space) }
    expectChange(false) { storage.set(credential("a"), for: space) }
    expectChange(false) { storage.setDefaultCredential(credential("a"), for: space) }
    expectChange(true) { storage.set(credential("b"), for: space) }
    expectChange(true) { storage.setDefaultCredential(credential("b"), for: space) }
    expectChange(false) { storage.set(credential("c", "p", .none), for: space) }
    expectChange(false) { storage.remove(credential("a", "other"), for: space) }
    expectChange(true) { storage.remove(credential("a"), for: space) }
    expectChange(false) { storage.remove(credential("a"), for: space) }
  }

  @Test("a credential storage's methods with a task parameter access the same credentials as its other methods")
  func tasks() throws {
    let storage = URLCredentialStorage()
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let url = try #require(URL(string: "http://h.example/"))
    let task = session.dataTask(with: URLRequest(url: url))
    storage.set(credential("a"), for: space, task: task)
    storage.setDefaultCredential(credential("b"), for: space, task: task)
    storage.getCredentials(for: space, task: task) { #expect($0 == ["a": credential("a"), "b": credential("b")]) }
    storage.getDefaultCredential(for: space, task: task) { #expect($0 == credential("b")) }
    storage.remove(credential("b"), for: space, task: task)
    storage.getDefaultCredential(for: space, task: task) { #expect($0 == nil) }
    #expect(storage.credentials(for: space) == ["a": credential("a")])
  }

  @Test("concurrent calls of URLCredentialStorage lose no credentials")
  func threads() {
    let storage = URLCredentialStorage()
    DispatchQueue.concurrentPerform(iterations: 200) { index in
      storage.setDefaultCredential(credential("u\(index)"), for: space)
      _ = storage.allCredentials
      if index.isMultiple(of: 2) { storage.remove(credential("u\(index)"), for: space) }
    }
    let users = storage.credentials(for: space).map { Set($0.keys) }
    #expect(users == Set(stride(from: 1, to: 200, by: 2).map { "u\($0)" }))
  }
}
