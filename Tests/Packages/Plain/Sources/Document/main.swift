// Document: decodes and encodes a document without Foundation and the C library.

import LupineJSON

struct Point: Codable {
  var x: Double
  var y: Int
}

let point = try LupineJSONDecoder().decode(Point.self, from: Array(#"{"x": 1.5, "y": 2}"#.utf8))
print(String(decoding: try LupineJSONEncoder().encode([point]), as: UTF8.self))
