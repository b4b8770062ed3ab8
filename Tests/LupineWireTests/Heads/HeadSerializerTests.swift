// HeadSerializerTests: the bytes of request heads, and the input that is refused (RFC 9112 §3, §5; RFC 9110 §5.5).

import LupineWire
import Testing

@Suite("HeadSerializer")
struct HeadSerializerTests {
  @Test(
    "the serializer writes or refuses each request head in the test table as expected",
    arguments: RequestVector.all)
  func vectors(_ vector: RequestVector) throws {
    switch vector.outcome {
    case .refused(let error): expect(vector.head, throws: error)
    case .written(let wire):
      var output: [UInt8] = []
      try HeadSerializer.append(vector.head, to: &output)
      #expect(output == Array(wire.utf8))
    }
  }

  @Test(
    "parsing a serialized request head, split anywhere and followed by another request, yields the same fields",
    arguments: RequestVector.all.filter { $0.wire != nil })
  func readAgain(_ vector: RequestVector) throws {
    let bytes = Array(try #require(vector.wire).utf8)
    for split in 0...bytes.count {
      var parser = SectionParser(.request, limits: Limits())
      var cursor = 0
      if split < bytes.count {
        guard case .needMoreBytes = try parser.next(Array(bytes[..<split]).span, at: &cursor) else {
          Issue.record("a section was parsed from only \(split) bytes")
          continue
        }
        cursor = 0
      }
      let rest = bytes[(split < bytes.count ? split : 0)...] + Array("GET / HTTP/1.1\r\n\r\n".utf8)
      guard case .section(let section) = try parser.next(Array(rest).span, at: &cursor) else {
        Issue.record("no section was parsed")
        continue
      }
      #expect(section.fields == vector.head.fields)
      #expect(section.byteCount == bytes.count)
    }
  }

  @Test("the serializer appends a request head to the bytes already in the buffer")
  func appends() throws {
    var output = Array("abc".utf8)
    try HeadSerializer.append(RequestHead(method: "GET", target: "/"), to: &output)
    #expect(output == Array("abcGET / HTTP/1.1\r\n\r\n".utf8))
  }

  @Test("the serializer doesn't write a field that was removed")
  func removedField() throws {
    var fields: Fields = ["A": "1", "Secret": "x", "B": "2", "SECRET": "y"]
    fields.remove("secret")
    var output: [UInt8] = []
    try HeadSerializer.append(RequestHead(method: "GET", target: "/", fields: fields), to: &output)
    #expect(output == Array("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n".utf8))
  }

  @Test("the serializer writes received lines with unusual white space, and replaced lines, in the usual form")
  func usualForm() throws {
    let received = Array("GET / HTTP/1.1\r\nA:1\r\nB:\t2 \r\nC: 3\nD: 4\r\nE: 5\r\n\r\n".utf8)
    var parser = SectionParser(.request, limits: Limits())
    var cursor = 0
    guard case .section(let section) = try parser.next(received.span, at: &cursor) else {
      Issue.record("no section was parsed")
      return
    }
    var fields = section.fields
    fields.set(name: "d", value: "a longer value")
    fields.append(name: "F", value: "6")
    var output: [UInt8] = []
    try HeadSerializer.append(RequestHead(method: "GET", target: "/", fields: fields), to: &output)
    let lines = "A: 1\r\nB: 2\r\nC: 3\r\nd: a longer value\r\nE: 5\r\nF: 6\r\n"
    #expect(output == Array("GET / HTTP/1.1\r\n\(lines)\r\n".utf8))
  }

  static let tokenCharacters = Set(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  static let ascii = (UInt8(0)..<128).map { ($0, String(Unicode.Scalar($0))) }

  @Test("the serializer refuses a method or field name with an ASCII character that isn't allowed in a token")
  func methodsAndNames() {
    for (byte, text) in Self.ascii {
      let inMethod = RequestHead(method: "G\(text)T", target: "/")
      let inName = RequestHead(method: "GET", target: "/", fields: ["A\(text)": "b"])
      let isToken = Self.tokenCharacters.contains(byte)
      expect(inMethod, throws: isToken ? nil : .invalidMethod("G\(text)T"))
      expect(inName, throws: isToken ? nil : .invalidRequestFieldName("A\(text)"))
    }
  }

  @Test("the serializer refuses a request target with an ASCII character that isn't visible")
  func targets() {
    for (byte, text) in Self.ascii {
      let isVisible = byte > 0x20 && byte < 0x7F
      expect(
        RequestHead(method: "GET", target: "/a\(text)b"),
        throws: isVisible ? nil : .invalidTarget(byte: byte, offset: 2))
    }
  }

  @Test("the serializer refuses a field value with a control character other than HTAB")
  func values() {
    for (byte, text) in Self.ascii {
      let isAllowed = byte >= 0x20 && byte != 0x7F || byte == 0x09
      expect(
        RequestHead(method: "GET", target: "/", fields: ["Host": "h", "A": "b\(text)"]),
        throws: isAllowed ? nil : .invalidRequestFieldValue(name: "A", byte: byte))
    }
  }

  @Test(
    "the serializer refuses a single field line with a forbidden character in its name, or anywhere in its value",
    arguments: ["b%", "%b", "b%c", "\tb%c", "b\tc%d", "b\t%"])
  func lines(value: String) {
    for (byte, text) in Self.ascii {
      let value = value.replacing("%", with: text)
      let isAllowed = byte >= 0x20 && byte != 0x7F || byte == 0x09
      let expected: WireError? = isAllowed ? nil : .invalidRequestFieldValue(name: "A", byte: byte)
      #expect(lineError(name: "A", value: value) == expected, "\(byte)")
      // The same rules apply to a line in a collection of fields.
      #expect(lineError(["A": value]) == expected, "\(byte)")
      let isToken = Self.tokenCharacters.contains(byte)
      #expect(lineError(name: "A\(text)", value: "b") == (isToken ? nil : .invalidRequestFieldName("A\(text)")))
    }
    #expect(lineError(name: "", value: value) == .invalidRequestFieldName(""))
  }

  private func lineError(name: String, value: String) -> WireError? {
    var output: [UInt8] = []
    do throws(WireError) {
      try HeadSerializer.appendLine(name: name, value: value, to: &output)
      #expect(output == Array("\(name): \(value)\r\n".utf8))
      return nil
    } catch {
      return error
    }
  }

  private func lineError(_ fields: Fields) -> WireError? {
    var output: [UInt8] = []
    do throws(WireError) {
      try HeadSerializer.appendLine(0, of: fields, to: &output)
      return nil
    } catch {
      return error
    }
  }

  /// Expects that serializing the head throws this error and appends no bytes. If the error is nil, expects a request line, one
  /// line per field and an empty line.
  private func expect(_ head: RequestHead, throws expected: WireError?) {
    let before = Array("kept".utf8)
    var output = before
    do throws(WireError) {
      try HeadSerializer.append(head, to: &output)
      #expect(expected == nil)
      #expect(output.count { $0 == 0x0A } == head.fields.count + 2)
      #expect(output.count { $0 == 0x0D } == head.fields.count + 2)
    } catch {
      #expect(error == expected)
      #expect(error.isCallersFault)
      #expect(output == before)
    }
  }
}
