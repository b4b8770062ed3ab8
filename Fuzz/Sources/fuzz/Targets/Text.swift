// Response bodies decoded as text, at once and in pieces, and as property lists.

import Foundation
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the decoding of response bodies as text. The input consists of a byte of options, followed by a response body.
  static let text = FuzzTarget(
    name: "text", summary: "the text of a body is the same in any pieces; no charset makes a serializer trap"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let body = Array(input.rest)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(body) { align(pieces, body) }
    let types = ["", "text/html; charset=utf-16", "text/plain; charset=shift_jis", "text/plain; charset=gb18030"]
    let fields = ["Content-Type": types[Int(choices & 3)]]
    guard let url = URL(string: "http://a.test/") else { return }
    let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
    _ = try? StringResponseSerializer().serialize(request: nil, response: response, data: Data(body), error: nil)
  }

  private static func align(_ pieces: [[UInt8]], _ body: [UInt8]) {
    var aligner = UTF8Aligner()
    var aligned: [Data] = pieces.map { aligner.align(Data($0)) }
    aligned.append(aligner.takeRest())
    hold(Data(aligned.joined()) == Data(body), "bytes were lost, or came in another order")
    hold(aligned.last?.count ?? 0 <= 3, "\(aligned.last?.count ?? 0) bytes were kept")
    let text = aligned.map { String(decoding: $0, as: UTF8.self) }.joined()
    hold(text.utf8.elementsEqual(String(decoding: body, as: UTF8.self).utf8), "another text: \(shown(body))")
  }

  /// Fuzzes the check of property lists. The input is a response body.
  static let propertyList = FuzzTarget(
    name: "property-list", summary: "a checked property list never makes Foundation trap, hang or use much memory"
  ) { bytes in
    let data = Data(bytes)
    let list = try? PropertyListResponseSerializer().serialize(request: nil, response: nil, data: data, error: nil)
    _ = list.map { "\($0)".count }
    let decoder: any DataDecoder = PropertyListDecoder()
    _ = try? decoder.decode([String: Tree].self, from: data)
  }

  /// Decodes every type of value that a property list can contain.
  private indirect enum Tree: Decodable {
    case list([Tree])
    case pairs([String: Tree])
    case leaf(String)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let list = try? value.decode([Tree].self) {
        self = .list(list)
      } else if let pairs = try? value.decode([String: Tree].self) {
        self = .pairs(pairs)
      } else if let text = try? value.decode(String.self) {
        self = .leaf(text)
      } else if let number = try? value.decode(Int.self) {
        self = .leaf("\(number)")
      } else if let number = try? value.decode(Double.self) {
        self = .leaf("\(number)")
      } else if let date = try? value.decode(Date.self) {
        self = .leaf("\(date)")
      } else {
        self = .leaf("\(try value.decode(Data.self))")
      }
    }
  }
}
