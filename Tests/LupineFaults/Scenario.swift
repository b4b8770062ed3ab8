// Scenario: the requests during which calls fail, and their servers.

import CLupineFaults
import Foundation
import Lupine
import LupineEngine
import LupineOrigin

/// A kind of request during which calls fail.
enum Scenario: String, CaseIterable {
  case plain, secure, tunnel, redirect, codings
  case uploadData, uploadFile, uploadSecureFile, multipart, download

  /// Whether the client looks up the host. The host then has a second address to try if the first one fails.
  var looksUp: Bool { self == .secure || self == .uploadSecureFile }

  /// The length of a body in bytes. It exceeds a socket's buffers and what one iteration of the loop processes.
  static let byteCount = 300_000
  /// The body of uploads. It is created from the bytes each time, because LeakSanitizer doesn't see references from a global
  /// `Data`.
  static var body: Data { Data(bytes) }
  private static let bytes = Pattern.bytes(0..<byteCount)
}

/// The servers for all kinds of requests. Calls on their threads never fail.
final class Servers: Sendable {
  let plain: OriginServer
  let secure: OriginServer
  let proxy: OriginServer
  private let identity: ServerIdentity

  init() throws {
    identity = try ServerIdentity.throwaway()
    plain = try OriginServer.serving(Self.reply)
    secure = try OriginServer.serving(tls: identity, Self.reply)
    proxy = try OriginServer { [identity] peer in
      guard let request = try peer.readRequest(), request.method == "CONNECT" else { return }
      try peer.send("HTTP/1.1 200 Connection established\r\n\r\n")
      try peer.startTLS(identity)
      try peer.serve(Self.reply)
    }
  }

  func stop() {
    for server in [plain, secure, proxy] { server.stop() }
  }

  var openConnectionCount: Int {
    [plain, secure, proxy].map(\.openConnectionCount).reduce(0, +)
  }

  private static func reply(_ request: ReceivedRequest) -> Reply {
    if let coding = ContentCoding(name: request.path.dropFirst()) {
      return Reply(.coded(Array(Scenario.body), coding))
    }
    return switch request.path {
    case "/redirect": Reply(status: 302, fields: ["Location": "/body"])
    case "/body": Reply(.pattern(byteCount: UInt64(Scenario.byteCount)))
    default: .text("\(request.body.count) \(Data(request.body) == Scenario.body)")
    }
  }

  /// Returns the configuration of the session that sends the request. Its time limits are so long that only a failed call ends a
  /// request.
  func configuration(_ scenario: Scenario) throws -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 300
    configuration.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
    configuration.engine.proxy = .none
    // The timeout is long, so that the deadline of an idle connection isn't mistaken for that of a request.
    configuration.engine.pool.idleTimeout = .seconds(2_000)
    if scenario == .tunnel {
      configuration.engine.proxy = .fixed(try Proxy(proxy.url))
    }
    return configuration
  }
}

extension Scenario {
  /// Starts the request, and calls `end` each time that the request calls its completion handler.
  func start(
    _ session: Session, _ servers: Servers, _ folder: URL, end: @escaping @Sendable (Ending) -> Void
  ) {
    let queue = session.rootQueue
    switch self {
    case .plain: receive(session.request(servers.plain.url + "/body"), queue, end)
    case .secure: receive(session.request(servers.secure.url + "/body"), queue, end)
    case .tunnel: receive(session.request("https://127.0.0.1:\(servers.secure.port)/body"), queue, end)
    case .redirect: receive(session.request(servers.plain.url + "/redirect"), queue, end)
    case .codings: receiveInTurn(ContentCoding.allCases[...], session, servers, end)
    case .uploadData: send(session.upload(Self.body, to: servers.plain.url), queue, end)
    case .uploadFile: send(session.upload(folder.appending(path: "body"), to: servers.plain.url), queue, end)
    case .uploadSecureFile: send(session.upload(folder.appending(path: "body"), to: servers.secure.url), queue, end)
    case .multipart:
      let request = session.upload(
        multipartFormData: { $0.append(Self.body, withName: "body") }, to: servers.plain.url, usingThreshold: 0)
      request.response(queue: queue) { end(Ending($0.error, isRight: $0.data?.isEmpty == false)) }
    case .download:
      let target = folder.appending(path: "downloaded")
      session.download(servers.plain.url + "/body", to: { _, _ in (target, []) }).response(queue: queue) { response in
        lupine_faults_exempt_thread(true)
        let file = response.fileURL.flatMap { try? Data(contentsOf: $0) }
        lupine_faults_exempt_thread(false)
        end(Ending(response.error, isRight: file == Self.body))
      }
    }
  }

  private func receive(_ request: DataRequest, _ queue: DispatchQueue, _ end: @escaping @Sendable (Ending) -> Void) {
    request.response(queue: queue) { end(Ending($0.error, isRight: $0.data == Self.body)) }
  }

  /// Requests a body with each of the content codings. The requests are sequential, so that the n-th allocation is the same in each
  /// run.
  private func receiveInTurn(
    _ codings: ArraySlice<ContentCoding>, _ session: Session, _ servers: Servers,
    _ end: @escaping @Sendable (Ending) -> Void
  ) {
    guard let coding = codings.first else { return end(Ending(nil, isRight: true)) }
    receive(session.request(servers.plain.url + "/\(coding.name)"), session.rootQueue) { ending in
      guard ending.kind == .complete else { return end(ending) }
      receiveInTurn(codings.dropFirst(), session, servers, end)
    }
  }

  private func send(_ request: UploadRequest, _ queue: DispatchQueue, _ end: @escaping @Sendable (Ending) -> Void) {
    let expected = Data("\(Self.byteCount) true".utf8)
    request.response(queue: queue) { end(Ending($0.error, isRight: $0.data == expected)) }
  }
}
