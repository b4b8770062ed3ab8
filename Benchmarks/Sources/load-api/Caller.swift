// Caller: the ways in which programs make requests with Alamofire's API, each with a check of the response.

import Foundation
import LoadMeasure
import Lupine

/// A way to make a request with Alamofire's API. The raw value is the argument of `--mode`.
enum Mode: String, CaseIterable {
  /// Awaits the value of `serializingData()`.
  case data
  /// Like `data`, but the tasks run on the session's executor, the thread of an engine's loop.
  case dataOnLoop = "loop"
  /// Awaits the value of `serializingDecodable()` for the type ``Page``.
  case decodable
  /// Awaits the value of `serializingData()`, and decodes it with a separate JSONDecoder.
  case dataThenDecode = "data-then-decode"
  /// Awaits the value of `serializingDecodable()` for a list of the type ``Wide``, whose keys are in snake case.
  case wide
  /// Uses `streamRequest()`, and counts the bytes of the stream on a queue.
  case stream
  /// Uses `download(to:)` with the file of `--download` as its destination.
  case download
  /// Uses `upload()` with the file of `--upload`.
  case upload
  /// Like `data`, with a cookie storage that has cookies for the server and for others.
  case cookies
  /// Like `data`, with a credential storage that has credentials for other servers.
  case credentials
  /// Like `data`, with six fields of the request's own.
  case fields
  /// Like `data`, with an interceptor that adds a field.
  case interceptor
  /// Like `data`, with `validate()`.
  case validation
  /// Like `data`, and reads the response's metrics.
  case metrics
  /// Like `data`, with an event monitor that receives three events, as a program's logger does.
  case monitor
  /// Uses `Obligations` instead of Alamofire's API, which do the minimum work that Alamofire's contract requires.
  case obligations
}

struct WrongBody: Error {
  let body: String
}

/// Makes requests in the chosen mode. All tasks share the caller, and each task makes one request at a time.
struct Caller: Sendable {
  let session: Session
  let load: Load
  let mode: Mode
  private let queue = DispatchQueue(label: "load-api")
  private let exact: Data?
  private let obligations: Obligations?

  init(session: Session, load: Load, mode: Mode) throws {
    self.session = session
    self.load = load
    self.mode = mode
    exact = load.exactBody.map { Data($0) }
    obligations = mode == .obligations ? try Obligations(load) : nil
  }

  /// Requests the URL, waits for the response and checks it.
  func call(_ url: String) async throws {
    switch mode {
    case .data, .dataOnLoop, .cookies, .credentials, .monitor:
      try check(await session.request(url).serializingData().value)
    case .fields: try check(await session.request(url, headers: Features.fields).serializingData().value)
    case .interceptor: try check(await session.request(url, interceptor: Features.interceptor).serializingData().value)
    case .validation: try check(await session.request(url).validate().serializingData().value)
    case .metrics:
      let response = await session.request(url).serializingData().response
      guard let metrics = response.metrics, metrics.transactionMetrics.count == 1 else {
        throw WrongBody(body: "no metrics")
      }
      try check(response.result.get())
    case .decodable: try check(await session.request(url).serializingDecodable(Page.self).value)
    case .dataThenDecode:
      try check(JSONDecoder().decode(Page.self, from: await session.request(url).serializingData().value))
    case .wide: try check(await session.request(url).serializingDecodable([Wide].self, decoder: Wide.decoder).value)
    case .stream: try check(byteCount: await stream(url))
    case .download: try await download(url)
    case .upload:
      let file = URL(fileURLWithPath: load.upload ?? "")
      try check(await session.upload(file, to: url).serializingData().value)
    case .obligations: try check(await obligations?.body(of: url) ?? Data())
    }
  }

  private func stream(_ url: String) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      let count = Count()
      session.streamRequest(url).responseStream(on: queue) { stream in
        switch stream.event {
        case .stream(.success(let data)): count.value += data.count
        case .complete(let completion):
          continuation.resume(with: completion.error.map { .failure($0) } ?? .success(count.value))
        }
      }
    }
  }

  private func download(_ url: String) async throws {
    let file = URL(fileURLWithPath: load.download ?? "")
    let destination: DownloadRequest.Destination = { _, _ in (file, [.removePreviousFile]) }
    let written = try await session.download(url, to: destination).serializingDownloadedFileURL().value
    try check(byteCount: Load.size(written.path))
  }

  private func check(_ body: Data) throws {
    if let exact, body != exact { throw WrongBody(body: String(decoding: body.prefix(100), as: UTF8.self)) }
    try check(byteCount: body.count)
  }

  private func check(byteCount: Int) throws {
    guard byteCount == load.expectedBytes else { throw WrongBody(body: "\(byteCount) bytes") }
  }

  private func check(_ page: Page) throws {
    guard page.items.count == page.total, page.items.last?.id == page.total else { throw WrongBody(body: "\(page)") }
  }

  private func check(_ list: [Wide]) throws {
    guard let last = list.last, last.ownerId == list.count - 1 else { throw WrongBody(body: "\(list.count) objects") }
  }
}

/// A counter. Unchecked, because only code on a single queue reads and writes its value.
private final class Count: @unchecked Sendable {
  var value = 0
}

/// The type of the JSON documents that fixtures.py creates.
struct Page: Decodable, Sendable {
  let total: Int
  let items: [Item]

  struct Item: Decodable, Sendable {
    let id: Int
    let name: String
    let price: Double
    let isInStock: Bool
    let tags: [String]
    let note: String?
  }
}

/// The type of the objects of wide.json, which names 14 of their 60 keys.
struct Wide: Decodable, Sendable {
  let createdAt: Date
  let updatedAt: Date
  let field1Name: Int
  let field4Name: String
  let field13Name: Int
  let field16Name: String
  let field20Name: String
  let field26Name: Bool?
  let field28Name: String
  let field33Name: Int
  let field40Name: String
  let field44Name: String
  let field53Name: Int
  let ownerId: Int

  static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }()
}
