// Load through Foundation's URLSession on Linux: a number of tasks, each of which awaits one response after another.

import Foundation
import FoundationNetworking
import LoadMeasure

let load = Load.fromCommandLine()
guard load.upload == nil, load.download == nil else { Load.fail("this one neither sends nor writes files") }

do {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = load.inFlight
  configuration.urlCache = nil
  configuration.httpAdditionalHeaders = Dictionary(uniqueKeysWithValues: Load.fields)
  let session = URLSession(configuration: configuration)
  try await send(Tickets(load.warmUp), session)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  try await send(tickets, session)
  measurement.finish(tickets)
} catch {
  Load.fail("\(error)")
}

struct WrongResponse: Error {
  let status: Int?
  let bodyBytes: Int
}

func send(_ tickets: Tickets, _ session: URLSession) async throws {
  guard let url = URL(string: load.url) else { Load.fail("\(load.url) is no URL") }
  let (exact, byteCount) = (load.exactBody.map { Data($0) }, load.expectedBytes)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask {
        while let ticket = tickets.take() {
          let (body, response) = try await session.data(from: url)
          let status = (response as? HTTPURLResponse)?.statusCode
          guard status == 200, try isExpected(body, exact, byteCount) else {
            throw WrongResponse(status: status, bodyBytes: body.count)
          }
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}

// Decodes the body in the modes of load-api that do so, or compares it.
func isExpected(_ body: Data, _ exact: Data?, _ byteCount: Int) throws -> Bool {
  switch load.mode {
  case "decodable":
    let page = try JSONDecoder().decode(Page.self, from: body)
    return page.items.count == page.total && page.items.last?.id == page.total
  case "wide":
    let list = try Wide.decoder.decode([Wide].self, from: body)
    return list.last?.ownerId == list.count - 1
  default: return exact.map { $0 == body } ?? (body.count == byteCount)
  }
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
