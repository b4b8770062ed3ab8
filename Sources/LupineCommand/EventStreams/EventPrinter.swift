// EventPrinter: the output of `lupine --sse`: each event of an event stream as a line of JSON.

import LupineEngine

/// Converts the body of an event stream to lines of JSON, one for each event.
struct EventPrinter {
  private var parser = EventStreamParser()

  /// Checks that the response is an event stream (WHATWG HTML, "Server-sent events"). The status code 204 ends a stream.
  init(_ head: ResponseHead, of uri: URI) throws(CommandError) {
    guard head.status != 204 else { return }
    guard head.status == 200 else {
      throw CommandError(
        .httpError,
        "\(uri): the server responded with \(head.status) \(head.reason), and --sse requires 200. Omit --sse to "
          + "read the response body.")
    }
    let type = head.fields.first("Content-Type") ?? ""
    let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    guard essence == "text/event-stream" else {
      throw CommandError(
        .httpError,
        "\(uri): the media type of the response is \"\(type.printable)\", and --sse requires text/event-stream. "
          + "Omit --sse to read the response body.")
    }
  }

  /// Returns the lines of the events that the bytes complete.
  mutating func lines(_ bytes: borrowing Span<UInt8>) throws(CommandError) -> [UInt8] {
    var text: [UInt8] = []
    var index = 0
    do throws(EventStreamError) {
      while let event = try parser.next(in: bytes, from: &index) { event.appendJSON(to: &text) }
    } catch {
      throw CommandError(.receiveFailed, error.description)
    }
    return text
  }
}

extension ServerSentEvent {
  fileprivate func appendJSON(to text: inout [UInt8]) {
    text.append(copying: "{\"id\":\"")
    Self.append(id, to: &text)
    text.append(copying: "\",\"type\":\"")
    Self.append(type, to: &text)
    text.append(copying: "\",\"data\":\"")
    Self.append(data, to: &text)
    text.append(copying: "\"}\n")
  }

  // char = unescaped / escape ( %x22 / %x5C / … ); unescaped = %x20-21 / %x23-5B / %x5D-10FFFF (RFC 8259 §7)
  private static func append(_ value: String, to text: inout [UInt8]) {
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): text.append(copying: "\\n")
      case UInt8(ascii: "\t"): text.append(copying: "\\t")
      case 0..<0x20: text.append(copying: "\\u00" + byte.hexDigits())
      default: text.append(byte)
      }
    }
  }
}
