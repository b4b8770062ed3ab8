// Event streams and lines in any pieces, and by a second implementation.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes event streams and lines. The input is a byte of options, followed by a body.
  static let eventStream = FuzzTarget(
    name: "event-stream", summary: "in any pieces, a stream has the events, lines and errors of a second implementation"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let body = Array(input.rest)
    var limits = EventStreamLimits()
    if choices & 1 == 1 { (limits.lineBytesMax, limits.eventBytesMax, limits.idBytesMax) = (24, 30, 5) }
    let expected = ReferenceEvents(body, limits)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(body) {
      let outcome = read(pieces, limits)
      hold(outcome.events == expected.events, "\(outcome.events), not \(expected.events): \(shown(body))")
      hold(outcome.error == expected.error, "\(outcome), not \(expected): \(shown(body))")
      hold(
        outcome.error != nil || (outcome.id, outcome.retry) == (expected.id, expected.retry),
        "\(outcome), not \(expected): \(shown(body))")
      splitLines(pieces, body)
    }
  }

  private struct Outcome {
    var events: [ServerSentEvent] = []
    var id = ""
    var retry: Int?
    var error: EventStreamError?
  }

  private static func read(_ pieces: [[UInt8]], _ limits: EventStreamLimits) -> Outcome {
    var outcome = Outcome()
    var parser = EventStreamParser(limits: limits)
    for piece in pieces where outcome.error == nil {
      GuardedBytes.with(piece) { span in
        var index = 0
        do throws(EventStreamError) {
          while let event = try parser.next(in: span, from: &index) { outcome.events.append(event) }
          hold(index == piece.count, "\(piece.count - index) bytes were left")
        } catch {
          outcome.error = error
        }
      }
    }
    (outcome.id, outcome.retry) = (parser.lastEventID, parser.retryMilliseconds)
    return outcome
  }

  private static func splitLines(_ pieces: [[UInt8]], _ body: [UInt8]) {
    var splitter = LineSplitter(.lineFeed, lineBytesMax: .max)
    var joined: [[UInt8]] = []
    for piece in pieces + [[UInt8(ascii: "\n")]] {
      GuardedBytes.with(piece) { span in
        var index = 0
        reading: while true {
          switch try? splitter.next(in: span, from: &index) {
          case .inPiece(let range): joined.append(Array(piece[range]))
          case .joined(let line): joined.append(line)
          case .needMoreBytes, nil: break reading
          }
        }
      }
    }
    let expected = body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
    hold(joined == expected, "\(joined.map(shown)): \(shown(body))")
  }
}

/// The events of a stream by the words of the specification: first all lines, then the fields of each.
private struct ReferenceEvents {
  var events: [ServerSentEvent] = []
  var id = ""
  var retry: Int?
  var error: EventStreamError?

  init(_ body: [UInt8], _ limits: EventStreamLimits) {
    do throws(EventStreamError) { try read(body, limits) } catch { self.error = error }
  }

  private mutating func read(_ body: [UInt8], _ limits: EventStreamLimits) throws(EventStreamError) {
    let (lines, rest) = Self.lines(of: body)
    // The mark counts as a part of the first line.
    let marks = lines.first?.starts(with: [0xEF, 0xBB, 0xBF]) == true
    var (data, type, newID): ([[UInt8]], [UInt8], String) = ([], [], "")
    for (index, original) in lines.enumerated() {
      if original.count > limits.lineBytesMax { throw .lineTooLong(bytesMax: limits.lineBytesMax) }
      let line = index == 0 && marks ? Array(original.dropFirst(3)) : original
      if line.isEmpty {
        id = newID
        if !data.isEmpty {
          let text = String(decoding: Array(data.joined(separator: [0x0A])), as: UTF8.self)
          events.append(
            ServerSentEvent(id: id, type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self), data: text))
        }
        (data, type) = ([], [])
        continue
      }
      let colon = line.firstIndex(of: UInt8(ascii: ":"))
      var value = colon.map { line[($0 + 1)...] } ?? []
      if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
      switch String(decoding: line[..<(colon ?? line.count)], as: UTF8.self) {
      case "data": data.append(Array(value))
      case "event": type = Array(value)
      case "id":
        if value.count > limits.idBytesMax { throw .idTooLong(bytesMax: limits.idBytesMax) }
        if !value.contains(0) { newID = String(decoding: value, as: UTF8.self) }
      case "retry":
        guard !value.isEmpty, value.allSatisfy({ 0x30...0x39 ~= $0 }) else { continue }
        let digits = value.drop { $0 == 0x30 }
        let number = digits.count > 15 ? Int.max : Int(String(decoding: digits, as: UTF8.self)) ?? 0
        retry = min(number, EventStreamParser.retryMillisecondsMax)
      default: continue
      }
      let count = Array(data.joined(separator: [0x0A])).count + Self.textCount(type)
      if count > limits.eventBytesMax { throw .eventTooLong(bytesMax: limits.eventBytesMax) }
    }
    if rest.count > limits.lineBytesMax + 2 { throw .lineTooLong(bytesMax: limits.lineBytesMax) }
  }

  // A replaced byte of a type takes three bytes.
  private static func textCount(_ bytes: [UInt8]) -> Int { String(decoding: bytes, as: UTF8.self).utf8.count }

  /// Returns the lines that have an ending, and the rest.
  private static func lines(of body: [UInt8]) -> (lines: [[UInt8]], rest: [UInt8]) {
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    for (index, byte) in body.enumerated() {
      if byte == 0x0A, index > 0, body[index - 1] == 0x0D { continue }
      if byte == 0x0A || byte == 0x0D {
        lines.append(line)
        line = []
      } else {
        line.append(byte)
      }
    }
    return (lines, line)
  }
}
