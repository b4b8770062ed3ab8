// Traffic: the requests of a soak, each kind with its expected outcome.

import Foundation
import Lupine
import LupineOrigin
import Synchronization

/// A kind of request that a soak test sends.
enum Traffic: String, CaseIterable {
  case plain, secure, big, gzip, deflate, br, chunks, redirect, close, post, secureUpload, fileUpload, multipart
  case download, stream, cancel, retry, cut, otherSession
  #if Zstd
    case zstd
  #endif

  static let bigByteCount = 200_000
  static let body = Data(Pattern.bytes(0..<20_000))
  static let bigBody = Data(Pattern.bytes(0..<bigByteCount))

  /// The outcome of one request of the soak test.
  enum Fate: Hashable, Sendable {
    case right
    /// The request failed with an error that the restart of a server explains.
    case interrupted
    case wrong(String)
  }

  /// Sends a request of this kind, waits for its end, and returns its outcome.
  func send(_ session: Session, _ servers: SoakServers, _ folder: URL, number: UInt64) async -> Fate {
    switch self {
    case .plain: await get(session, servers.plainURL + "/", Data("0".utf8))
    case .secure: await get(session, servers.secureURL + "/", Data("0".utf8))
    case .big: await get(session, servers.secureURL + "/big", Self.bigBody)
    case .gzip, .deflate, .br, .close: await get(session, servers.plainURL + "/\(rawValue)", Self.body)
    #if Zstd
      case .zstd: await get(session, servers.plainURL + "/zstd", Self.body)
    #endif
    case .chunks: await get(session, servers.plainURL + "/chunks", Self.body + Self.body)
    case .redirect: await get(session, servers.plainURL + "/redirect", Self.bigBody)
    case .post: await upload(session.upload(Self.body, to: servers.plainURL), Self.body.count)
    case .secureUpload: await upload(session.upload(Self.bigBody, to: servers.secureURL), Self.bigByteCount)
    case .fileUpload:
      await upload(session.upload(folder.appending(path: "body"), to: servers.plainURL), Self.bigByteCount)
    case .multipart: await multipart(session, servers)
    case .download: await download(session, servers, folder, number)
    case .stream: await stream(session, servers)
    case .cancel: await cancel(session, servers, number)
    case .retry: await retry(session, servers)
    case .cut: await cut(session, servers)
    case .otherSession: await otherSession(servers)
    }
  }

  private func get(_ session: Session, _ url: String, _ expected: Data) async -> Fate {
    let response = await session.request(url).serializingData().response
    return Self.fate(response.error, response.value == expected)
  }

  private func upload(_ request: UploadRequest, _ byteCount: Int) async -> Fate {
    let response = await request.serializingString().response
    return Self.fate(response.error, response.value == "\(byteCount)")
  }

  private func multipart(_ session: Session, _ servers: SoakServers) async -> Fate {
    let request = session.upload(
      multipartFormData: { $0.append(Self.body, withName: "body") }, to: servers.plainURL, usingThreshold: 0)
    let response = await request.serializingString().response
    return Self.fate(response.error, (response.value.flatMap { Int($0) } ?? 0) > Self.body.count)
  }

  private func download(_ session: Session, _ servers: SoakServers, _ folder: URL, _ number: UInt64) async -> Fate {
    let target = folder.appending(path: "download-\(number)")
    defer { try? FileManager.default.removeItem(at: target) }
    let response = await session.download(servers.secureURL + "/big", to: { _, _ in (target, []) })
      .serializingDownloadedFileURL().response
    return Self.fate(response.error, (try? Data(contentsOf: target)) == Self.bigBody)
  }

  private func stream(_ session: Session, _ servers: SoakServers) async -> Fate {
    var received = Data()
    for await event in session.streamRequest(servers.plainURL + "/big").streamTask().streamingData() {
      if let data = event.value { received += data }
      if let completion = event.completion { return Self.fate(completion.error, received == Self.bigBody) }
    }
    return .wrong("a stream without a completion")
  }

  private func cancel(_ session: Session, _ servers: SoakServers, _ number: UInt64) async -> Fate {
    let path = number.isMultiple(of: 2) ? "/hold" : "/big"
    let request = session.request((number.isMultiple(of: 3) ? servers.secureURL : servers.plainURL) + path)
    let task = request.serializingData()
    await pause(microseconds: Int(number % 3_000))
    request.cancel()
    let response = await task.response
    if response.error?.isExplicitlyCancelledError == true { return .right }
    return path == "/hold"
      ? Self.fate(response.error, false) : Self.fate(response.error, response.value == Self.bigBody)
  }

  private func retry(_ session: Session, _ servers: SoakServers) async -> Fate {
    let response = await session.request(servers.plainURL + "/retry", interceptor: MarkedRetry())
      .validate().serializingString().response
    return Self.fate(response.error, response.value == "again")
  }

  private func cut(_ session: Session, _ servers: SoakServers) async -> Fate {
    let error = await session.request(servers.plainURL + "/cut").serializingData().response.error
    guard error != nil else { return .wrong("a truncated response was reported as complete") }
    let fate = Self.fate(error, false)
    return fate == .interrupted ? .right : fate
  }

  private func otherSession(_ servers: SoakServers) async -> Fate {
    let session = Session(configuration: Soak.configuration(servers))
    defer { withExtendedLifetime(session) {} }
    return await get(session, servers.secureURL + "/", Data("0".utf8))
  }

  /// Returns the outcome of a request. A request without an error must have received the expected response.
  private static func fate(_ error: AFError?, _ isRight: Bool) -> Fate {
    guard let error else { return isRight ? .right : .wrong("no error, but an unexpected response") }
    let codes: Set<URLError.Code> = [.networkConnectionLost, .cannotConnectToHost, .secureConnectionFailed]
    guard let code = (error.underlyingError as? URLError)?.code, codes.contains(code) else { return .wrong("\(error)") }
    return .interrupted
  }
}

/// A retrier that retries a failed request up to three times, and adds the field X-Retry to each retry.
private final class MarkedRetry: RequestInterceptor {
  private let retries = Atomic(0)

  func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
  ) {
    var urlRequest = urlRequest
    if retries.load(ordering: .relaxed) > 0 { urlRequest.headers.add(name: "X-Retry", value: "1") }
    completion(.success(urlRequest))
  }

  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    let count = retries.add(1, ordering: .relaxed).newValue
    completion(count <= 3 ? .retryWithDelay(0.001) : .doNotRetry)
  }
}
