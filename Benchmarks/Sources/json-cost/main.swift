// json-cost: the CPU time of decoding a response in JSON by LupineJSON and by Foundation's JSONDecoder, through the serializer of
// requests.
//
//   swift run -c release --package-path Benchmarks json-cost

import Foundation
import Glibc
import Lupine

struct Item: Decodable, Sendable {
  var id: Int
  var name: String
  var email: String
  var active: Bool
  var score: Double
  var tags: [String]
  var note: String?
}

/// Names 14 of 60 keys.
struct Wide: Decodable, Sendable {
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

func compare<T: Decodable & Sendable>(_ name: String, _ type: T.Type, _ data: Data, _ decoder: JSONDecoder) throws {
  let lupine = try cost(of: DecodableResponseSerializer<T>(decoder: decoder), data)
  let foundation = try cost(of: DecodableResponseSerializer<T>(decoder: .foundation(decoder)), data)
  print("\(name) (\(data.count) bytes):")
  print(String(format: "  LupineJSON  %9.2f µs", lupine))
  print(String(format: "  Foundation  %9.2f µs, %.2f times as long", foundation, foundation / lupine))
}

/// Returns the processor time of serializing a response in microseconds: the lowest of many averages.
func cost<T: Decodable & Sendable>(of serializer: DecodableResponseSerializer<T>, _ data: Data) throws -> Double {
  let repetitions = max(1, 20_000 / data.count)
  var lowest = Double.infinity
  for _ in 0..<200 {
    let start = cpuTime()
    for _ in 0..<repetitions {
      _ = try serializer.serialize(request: nil, response: nil, data: data, error: nil)
    }
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
