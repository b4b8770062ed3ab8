// Request heads: a head that was written is parsed to the same head.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the serializer of request heads. The input contains a method, a target, and names and values of fields. The length of
  /// each precedes it.
  static let fields = FuzzTarget(
    name: "fields",
    summary: "a written head is parsed to the same head; an invalid one is refused, and nothing is written"
  ) { bytes in
    var input = Input(bytes)
    var head = RequestHead(method: input.text(), target: input.text())
    var expected: [(name: String, value: [UInt8])] = []
    while !input.isAtEnd, expected.count < 40 {
      let (name, value) = (input.text(), input.bytes())
      head.fields.append(name: name, valueBytes: value)
      expected.append((name, value))
    }
    let isToken = { (text: String) in !text.isEmpty && text.utf8.allSatisfy(isTokenCharacter) }
    let isWritable =
      isToken(head.method) && !head.target.isEmpty && head.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      && expected.allSatisfy { isToken($0.name) && $0.value.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }
    var wire = Array("before".utf8)
    do throws(WireError) {
      try HeadSerializer.append(head, to: &wire)
    } catch {
      hold(!isWritable && error.isCallersFault, "refused: \(error)")
      hold(wire == Array("before".utf8), "a refused head left \(shown(wire))")
      return
    }
    hold(isWritable, "written although it is invalid: \(shown(wire))")
    wire.removeFirst("before".utf8.count)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(wire) { read(pieces, head, expected, wire) }
  }

  private static func read(
    _ pieces: [[UInt8]], _ head: RequestHead, _ expected: [(name: String, value: [UInt8])], _ wire: [UInt8]
  ) {
    var parser = SectionParser(.request, limits: Limits())
    var result: SectionParser.Section?
    for piece in pieces where !piece.isEmpty {
      GuardedBytes.with(piece) { span in
        var cursor = 0
        guard let step = try? parser.next(span, at: &cursor) else { return hold(false, "not read: \(shown(wire))") }
        if case .section(let section) = step { result = section }
        hold(cursor == piece.count, "the head ended early: \(shown(wire))")
      }
    }
    guard let section = result else { return hold(false, "no end: \(shown(wire))") }
    let line = wire[Int(section.startLine.lowerBound)..<Int(section.startLine.upperBound)]
    hold(line.elementsEqual("\(head.method) \(head.target) HTTP/1.1".utf8), "\(shown(line))")
    hold(section.fields.count == expected.count, "\(section.fields.count) fields: \(shown(wire))")
    for (index, field) in expected.enumerated() {
      let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      var value = field.value.drop(while: isBlank)
      while let last = value.last, isBlank(last) { value.removeLast() }
      hold(section.fields[index].name == field.name, "\(section.fields[index])")
      hold(section.fields.valueBytes(at: index) == Array(value), "\(section.fields[index]): \(shown(wire))")
    }
  }

  // Whether the byte is a tchar (RFC 9110 §5.6.2), in a second implementation for comparison.
  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: Array("!#$%&'*+-.^_`|~".utf8).contains(byte)
    }
  }
}
