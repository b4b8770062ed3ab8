// The parser of responses, with arbitrary bytes.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parser of responses. The input consists of a byte of options, followed by the bytes that the server sends.
  static let response = FuzzTarget(
    name: "response",
    summary: "any split of a reply has the same events, none after an error, within the limits"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let wire = Array(input.rest)
    var limits = Limits()
    if choices & 0x10 != 0 {
      (limits.headBytesMax, limits.fieldLinesMax, limits.trailerBytesMax) = (120, 4, 40)
      (limits.informationalMax, limits.chunkLineBytesMax, limits.chunkExtensionBytesMax) = (1, 12, 16)
      limits.transferCodingsMax = 1
    }
    let method = ["GET", "HEAD", "CONNECT", "POST"][Int(choices & 3)]
    var cutter = Cutter(bytes)
    var first: ReplyRecord?
    for pieces in cutter.waysToCut(wire) {
      let record = ReplyRecord(
        pieces, method: method, upgrades: choices & 4 != 0, peerCloses: choices & 8 != 0, limits: limits)
      if let first {
        hold(record == first, "cut in another way: \(record), and \(first), of \(shown(wire))")
      } else {
        first = record
        check(record, wire, limits)
      }
    }
    for kind in [SectionParser.Kind.response, .request, .trailers] { checkMemory(kind, wire, limits) }
  }

  private static func check(_ record: ReplyRecord, _ wire: [UInt8], _ limits: Limits) {
    let heads = record.interim + (record.head.map { [$0] } ?? [])
    hold(record.interim.count <= limits.informationalMax, "\(record.interim.count) interim responses")
    hold(wire.starts(with: heads.joined()), "the heads aren't the wire's bytes")
    for head in heads { hold(head.count <= limits.headBytesMax, "a head of \(head.count) bytes") }
    for fields in [record.fields, record.trailers] {
      hold(fields.count <= limits.fieldLinesMax, "\(fields.count) fields")
      for (index, field) in fields.enumerated() {
        hold(!field.name.isEmpty && field.name.utf8.allSatisfy(CharacterClass.token.contains), "\(field)")
        let value = fields.valueBytes(at: index)
        hold(value.allSatisfy(Byte.isFieldContent), "\(field)")
        hold(!blanks.contains(value.first ?? 0) && !blanks.contains(value.last ?? 0), "not trimmed: \(field)")
      }
    }
    let rest = wire.dropFirst(heads.joined().count)
    switch record.framing {
    case .length(let length):
      hold(record.body.elementsEqual(rest.prefix(Int(clamping: length))), "not the bytes after the head")
      hold(record.isComplete == (rest.count >= length), "complete is \(record.isComplete)")
    case .untilClose: hold(record.body.elementsEqual(rest), "not all the bytes after the head")
    case .chunked: hold(record.body.count <= rest.count, "more than came")
    case .some(.none), nil: hold(record.body.isEmpty, "a body that can't be")
    }
    if let handedOver = record.handedOver { hold(handedOver.elementsEqual(rest), "bytes were lost") }
    // The parsers of these fields' values must not trap.
    _ = record.fields.challenges("WWW-Authenticate")
    _ = record.fields.list("Connection")
  }

  private static let blanks: Set<UInt8> = [Byte.space, Byte.tab]

  /// Passes the bytes one by one to a parser, and checks that it never buffers more bytes than its limit.
  private static func checkMemory(_ kind: SectionParser.Kind, _ wire: [UInt8], _ limits: Limits) {
    var parser = SectionParser(kind, limits: limits)
    let max = kind == .trailers ? limits.trailerBytesMax : limits.headBytesMax
    for byte in wire {
      var cursor = 0
      switch try? parser.next([byte].span, at: &cursor) {
      case .needMoreBytes: hold(parser.pendingCount <= max, "\(parser.pendingCount) bytes are kept")
      case .section(let section):
        hold(section.byteCount <= max && parser.pendingCount == 0, "a section of \(section.byteCount) bytes")
        return
      case nil: return
      }
    }
  }
}
