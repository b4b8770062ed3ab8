// json-cost: the CPU time of decoding a response and of encoding parameters in JSON by LupineJSON and by Foundation, through the
// serializer and the parameter encoder of requests.
//
//   swift run -c release --package-path Benchmarks json-cost

import Foundation
import Glibc
import Lupine

struct Item: Codable, Sendable {
  var id: Int
  var name: String
  var email: String
  var active: Bool
  var score: Double
  var tags: [String]
  var note: String?
}

/// Names 14 of 60 keys.
struct Wide: Codable, Sendable {
  var field1Name: Int
  var field4Name: String
  var createdAt: Date
  var updatedAt: Date
  var field13Name: Int
  var field16Name: String
  var field20Name: String
  var field26Name: Bool?
  var field28Name: String
  var field33Name: Int
  var field40Name: String
  var field44Name: String
  var field53Name: Int
  var ownerId: Int
}

func items(_ count: Int) -> Data {
  let objects = (0..<count).map { number in
    """
    {"id":\(number),"name":"User number \(number)","email":"user\(number)@example.com","active":\(number % 2 == 0),\
    "score":\(Double(number) * 1.37 + 0.1),"tags":["a","beta","gamma delta"],"note":null}
    """
  }
  return Data("[\(objects.joined(separator: ","))]".utf8)
}

func wide(_ count: Int) -> Data {
  let objects = (0..<count).map { number in
    let fields = (1...57).map { field in
      let value =
        switch field % 4 {
        case 0: "\"value \(field) of \(number), with some text in it\""
        case 1: "\(field * number)"
        case 2: "null"
        default: "[1, 2, 3]"
        }
      return "  \"field\(field)_name\": \(value)"
    }
    let dates = "  \"created_at\": \"2024-03-05T06:07:08Z\",\n  \"updated_at\": \"2025-11-12T13:14:15Z\""
    return "{\n\(dates),\n\(fields.joined(separator: ",\n")),\n  \"owner_id\": \(number)\n}"
  }
  return Data("[\(objects.joined(separator: ",\n"))]".utf8)
}

let plain = JSONDecoder()
let snakeCase = JSONDecoder()
snakeCase.keyDecodingStrategy = .convertFromSnakeCase
snakeCase.dateDecodingStrategy = .iso8601

try compare("1 KiB, 7 objects of 7 keys", [Item].self, items(7), plain)
try compare("100 KiB, 700 objects of 7 keys", [Item].self, items(700), plain)
try compare("60 KiB, 30 objects of 60 keys in snake case, 14 of them named", [Wide].self, wide(30), snakeCase)

let numbers = Data("{\((0..<200).map { "\"key\($0)\":\($0)" }.joined(separator: ","))}".utf8)
try compare("2 KiB, a dictionary of 200 numbers", [String: Int].self, numbers, plain)

func compare<T: Codable & Sendable>(_ name: String, _ type: T.Type, _ data: Data, _ decoder: JSONDecoder) throws {
  print("\(name) (\(data.count) bytes):")
  let fast = DecodableResponseSerializer<T>(decoder: decoder)
  let slow = DecodableResponseSerializer<T>(decoder: .foundation(decoder))
  try compare("decoding", data.count) {
    _ = try fast.serialize(request: nil, response: nil, data: data, error: nil)
  } _: {
    _ = try slow.serialize(request: nil, response: nil, data: data, error: nil)
  }
  let value = try fast.serialize(request: nil, response: nil, data: data, error: nil)
  let encoder = JSONEncoder()
  if case .convertFromSnakeCase = decoder.keyDecodingStrategy {
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
  }
  let request = URLRequest(url: URL(fileURLWithPath: "/"))
  let (fastEncoder, slowEncoder) = (JSONParameterEncoder(encoder: encoder), JSONParameterEncoder.foundation(encoder))
  try compare("encoding", data.count) {
    _ = try fastEncoder.encode(value, into: request)
  } _: {
    _ = try slowEncoder.encode(value, into: request)
  }
}

func compare(_ name: String, _ byteCount: Int, _ lupine: () throws -> Void, _ foundation: () throws -> Void) throws {
  let (lupine, foundation) = (try cost(byteCount, lupine), try cost(byteCount, foundation))
  print(
    String(format: "  %@: LupineJSON %9.2f µs, Foundation %9.2f µs: ", name, lupine, foundation)
      + String(format: "%.2f times as long", foundation / lupine))
}

/// Returns the processor time of a call in microseconds: the lowest of many averages.
func cost(_ byteCount: Int, _ call: () throws -> Void) throws -> Double {
  let repetitions = max(1, 20_000 / byteCount)
  var lowest = Double.infinity
  for _ in 0..<200 {
    let start = cpuTime()
    for _ in 0..<repetitions { try call() }
    lowest = min(lowest, (cpuTime() - start) / Double(repetitions))
  }
  return lowest
}

/// Returns the processor time that this process has used, in microseconds.
func cpuTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}
