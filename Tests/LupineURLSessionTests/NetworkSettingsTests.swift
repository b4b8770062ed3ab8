// NetworkSettingsTests: the networks, traffic classes and connections that sessions and requests choose.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite("Settings of networks and requests", .timeLimit(.minutes(10)))
struct NetworkSettingsTests {
  private func request(_ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
    var request = URLRequest(url: URL(filePath: "/"))
    request.url = URL(string: "http://h.example/")
    change(&request)
    return request
  }

  /// Returns the EngineRequest to which a session with this configuration converts the URLRequest.
  private func converted(
    _ request: URLRequest, _ configure: (URLSessionConfiguration) -> Void = { _ in }
  ) throws -> EngineRequest {
    let configuration = URLSessionConfiguration.ephemeral
    configure(configuration)
    return try URLSession(configuration: configuration).client.convert(request)
  }

  @Test("a URLRequest's network settings have Foundation's defaults, keep their values, and affect equality")
  func defaults() {
    let plain = request()
    #expect(plain.allowsCellularAccess && plain.allowsExpensiveNetworkAccess && plain.allowsConstrainedNetworkAccess)
    #expect(plain.networkServiceType == .default && !plain.httpShouldUsePipelining)
    let changes: [(inout URLRequest) -> Void] = [
      { $0.allowsCellularAccess = false }, { $0.allowsExpensiveNetworkAccess = false },
      { $0.allowsConstrainedNetworkAccess = false }, { $0.networkServiceType = .voice },
      { $0.httpShouldUsePipelining = true }, { $0.lupine.bodyBytesMax = 1 },
    ]
    let requests = [plain] + changes.map { request($0) }
    for (index, one) in requests.enumerated() {
      for other in requests[(index + 1)...] { #expect(one != other) }
      #expect(one == requests[index])
    }
    let mutable = NSMutableURLRequest(plain)
    mutable.allowsCellularAccess = false
    mutable.allowsExpensiveNetworkAccess = false
    mutable.allowsConstrainedNetworkAccess = false
    mutable.networkServiceType = .video
    mutable.httpShouldUsePipelining = true
    let copy = URLRequest(mutable)
    #expect(!copy.allowsCellularAccess && !copy.allowsExpensiveNetworkAccess && !copy.allowsConstrainedNetworkAccess)
    #expect(copy.networkServiceType == .video && copy.httpShouldUsePipelining)
    let immutable = NSURLRequest(copy)
    #expect(!immutable.allowsCellularAccess && immutable.networkServiceType == .video)
    #expect(NSURLRequest.NetworkServiceType.callSignaling == .networkServiceTypeCallSignaling)
    #expect([0, 1, 2, 3, 4, 11].map { NSURLRequest.NetworkServiceType(rawValue: $0) }.allSatisfy { $0 != nil })
  }

  @Test(
    "a URLSessionConfiguration's network settings have Foundation's defaults, and are copied with the configuration")
  func configuration() {
    let configuration = URLSessionConfiguration.default
    #expect(configuration.allowsCellularAccess && configuration.allowsExpensiveNetworkAccess)
    #expect(configuration.allowsConstrainedNetworkAccess && configuration.networkServiceType == .default)
    #expect(!configuration.httpShouldUsePipelining && !configuration.waitsForConnectivity)
    configuration.allowsCellularAccess = false
    configuration.allowsExpensiveNetworkAccess = false
    configuration.allowsConstrainedNetworkAccess = false
    configuration.networkServiceType = .background
    configuration.httpShouldUsePipelining = true
    configuration.waitsForConnectivity = true
    configuration.sharedContainerIdentifier = "group"
    configuration.shouldUseExtendedBackgroundIdleMode = true
    let copy = URLSession(configuration: configuration).configuration
    #expect(!copy.allowsCellularAccess && !copy.allowsExpensiveNetworkAccess && !copy.allowsConstrainedNetworkAccess)
    #expect(copy.networkServiceType == .background && copy.httpShouldUsePipelining && copy.waitsForConnectivity)
    #expect(copy.sharedContainerIdentifier == "group" && copy.shouldUseExtendedBackgroundIdleMode)
  }

  @Test("a request can't use mobile networks if the session or the request disallows cellular or expensive networks")
  func cellular() throws {
    #expect(try converted(request()).connection == nil)
    #expect(try converted(request { $0.allowsConstrainedNetworkAccess = false }).connection == nil)
    #expect(try converted(request { $0.allowsCellularAccess = true }).connection == nil)
    #expect(try converted(request { $0.allowsCellularAccess = false }).connection?.refusesCellular == true)
    #expect(try converted(request { $0.allowsExpensiveNetworkAccess = false }).connection?.refusesCellular == true)
    for configure: (URLSessionConfiguration) -> Void in [
      { $0.allowsCellularAccess = false }, { $0.allowsExpensiveNetworkAccess = false },
    ] {
      #expect(try converted(request(), configure).connection?.refusesCellular == true)
      #expect(try converted(request { $0.allowsCellularAccess = true }, configure).connection?.refusesCellular == true)
    }
  }

  @Test(
    "each networkServiceType has its traffic class, and the request's type takes precedence over the session's",
    arguments: [
      (.default, nil), (.voip, 0xA0), (.video, 0x88), (.background, 0x04), (.voice, 0xB8),
      (.networkServiceTypeCallSignaling, 0xA0),
    ] as [(URLRequest.NetworkServiceType, UInt8?)])
  func trafficClass(type: URLRequest.NetworkServiceType, trafficClass: UInt8?) throws {
    #expect(try converted(request { $0.networkServiceType = type }).connection?.trafficClass == trafficClass)
    #expect(try converted(request()) { $0.networkServiceType = type }.connection?.trafficClass == trafficClass)
    let over = try converted(request { $0.networkServiceType = type }) { $0.networkServiceType = .voice }
    #expect(over.connection?.trafficClass == trafficClass)
  }

  @Test("a request's own network settings replace those of the session")
  func own() throws {
    let timeouts = Timeouts(everyPhase: .seconds(3), total: .seconds(9))
    let sent = try converted(
      request {
        $0.timeoutInterval = 100
        $0.lupine.timeouts = timeouts
        $0.lupine.bodyBytesMax = 1_000
        $0.lupine.priority = 0.9
        $0.lupine.proxy = ProxySettings.none
        $0.lupine.hostOverrides = [HostOverride(host: "h.example", addresses: [])]
        $0.lupine.tls = TLSConfiguration(verification: .none)
      })
    #expect(sent.timeouts == timeouts && sent.bodyBytesMax == 1_000 && sent.priority == 0.9)
    #expect(sent.connection?.proxy == ProxySettings.none && sent.connection?.hostOverrides.count == 1)
    #expect(sent.connection?.tls?.verification == TLSConfiguration(verification: .none).verification)
  }

  @Test("a session's time limits for each phase apply to requests without their own, up to the limit of the task")
  func phases() throws {
    var limits = Timeouts(everyPhase: .seconds(3), total: nil)
    limits.firstByte = .seconds(7)
    for (total, resource, expected) in [(nil, 20, 20), (9, 20, 9), (30, 20, 20)] as [(Int?, Double, Int)] {
      limits.total = total.map { .seconds($0) }
      let configure = { (configuration: URLSessionConfiguration) in
        configuration.timeoutIntervalForRequest = 100
        configuration.timeoutIntervalForResource = resource
        configuration.timeouts = limits
        #expect((configuration.copy() as? URLSessionConfiguration)?.timeouts == limits)
      }
      var applied = limits
      applied.total = .seconds(expected)
      #expect(try converted(request(), configure).timeouts == applied)
      #expect(try converted(request { $0.timeoutInterval = 5 }, configure).timeouts.firstByte == .seconds(5))
    }
    #expect(try converted(request()) { $0.timeoutIntervalForRequest = 100 }.timeouts.firstByte == .seconds(100))
  }

  @Test("a request's TLS settings don't disable the session's trust evaluation, and equal settings share connections")
  func trust() throws {
    let client = URLSession(configuration: .ephemeral).client
    let evaluation = ServerTrustEvaluation(
      isQuick: { _ in true }, mayDecide: { _ in true }, usesStaple: false
    ) { _, _ in false }
    #expect(client.evaluateTrust(by: evaluation))
    let own = request { $0.lupine.tls = TLSConfiguration(verification: .none) }
    let (one, two) = (try client.convert(own), try client.convert(own))
    #expect(one.connection?.tls?.verifier != nil && one.connection == two.connection)
  }

  @Test("a task whose response body exceeds the limit of its request fails, whatever kind of task it is")
  func bodyLimit() async throws {
    try await withServer { _ in
      .text(String(repeating: "x", count: 5_000))
    } _: { origin in
      try await withSession { session in
        var limited = origin.request()
        limited.lupine.bodyBytesMax = 4_999
        #expect(await code { try await session.data(for: limited) } == .dataLengthExceedsMaximum)
        #expect(await code { try await session.download(for: limited) } == .dataLengthExceedsMaximum)
        limited.lupine.bodyBytesMax = 5_000
        let (data, _) = try await session.data(for: limited)
        #expect(data.count == 5_000)
      }
    }
  }

  /// Answers each challenge with a password.
  private final class PasswordDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
  }

  @Test("a redirect and a challenge whose bodies exceed the limit of the request don't fail its task")
  func unwantedBodies() async throws {
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        switch request.path {
        // The engine doesn't wait for a body of this length when it follows the redirect.
        case "/redirect": try peer.send("HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 1000000\r\n\r\n")
        case "/challenge" where !request.fields.contains("Authorization"):
          try peer.send("HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=r\r\nContent-Length: 1000000\r\n\r\n")
        default: try peer.respond(body: Array("ok".utf8))
        }
      }
    }
    defer { origin.stop() }
    try await withSession(delegate: PasswordDelegate()) { session in
      for path in ["/redirect", "/challenge"] {
        var limited = origin.request(path)
        limited.lupine.bodyBytesMax = 100
        let (data, _) = try await session.data(for: limited)
        #expect(String(decoding: data, as: UTF8.self) == "ok", "\(path)")
      }
    }
  }

  @Test("a request is sent to the addresses that the request specifies for its host")
  func addresses() async throws {
    try await withServer {
      .text($0.fields.first("Host") ?? "")
    } _: { origin in
      try await withSession { session in
        var request = origin.request()
        let port = try #require(request.url?.port)
        request.url = URL(string: "http://nowhere.example:\(port)/")
        request.lupine.hostOverrides = [
          HostOverride(
            host: "nowhere.example", addresses: [SocketAddress(numeric: "127.0.0.1", port: 0)].compactMap(\.self))
        ]
        let (data, _) = try await session.data(for: request)
        #expect(data == Data("nowhere.example:\(port)".utf8))
      }
    }
  }

  @Test("tasks with a higher priority get a connection before tasks that were resumed earlier")
  func priority() async throws {
    let (arrived, go) = (Gate(), Gate())
    let (served, started) = (Notes(), Notes())
    let origin = try OriginServer.serving { request in
      if request.path == "/first" {
        arrived.open()
        go.waitBlocking()
      }
      served.add(request.path)
      return .text("")
    }
    defer { origin.stop() }
    try await withSession {
      $0.httpMaximumConnectionsPerHost = 1
      $0.engine.tracer = { if case .exchangeStarted = $0.kind { started.add("") } }
    } _: { session in
      session.dataTask(with: origin.request("/first")).resume()
      await arrived.wait()
      let tasks = [("/low", URLSessionTask.lowPriority), ("/normal", 0.5), ("/high", URLSessionTask.highPriority)].map {
        let task = session.dataTask(with: origin.request($0))
        if $1 != 0.5 { task.priority = $1 }
        #expect(task.priority == $1)
        return task
      }
      var request = origin.request("/highest")
      request.lupine.priority = 1
      let highest = session.dataTask(with: request)
      #expect(highest.priority == 1)
      for task in tasks + [highest] { task.resume() }
      #expect(await settles { started.all.count == 5 })
      go.open()
      #expect(await settles { served.all.count == 5 })
      #expect(served.all == ["/first", "/highest", "/high", "/normal", "/low"])
    }
  }
}
