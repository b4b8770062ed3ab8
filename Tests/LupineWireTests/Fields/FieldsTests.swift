// FieldsTests: order, case and several lines of one name (RFC 9110 §5).

import LupineWire
import Testing

@Suite("Fields")
struct FieldsTests {
  private let fields: Fields = ["Host": "h", "Accept": "a", "accept": "b", "X": "", "ACCEPT": "a"]

  @Test("field lines keep their order and the spelling of their names")
  func order() {
    #expect(fields.map(\.name) == ["Host", "Accept", "accept", "X", "ACCEPT"])
    #expect(fields.map(\.value) == ["h", "a", "b", "", "a"])
    #expect(fields.count == 5)
    #expect(fields[2].name == "accept")
  }

  @Test("looking up a field ignores the case of its name", arguments: ["accept", "ACCEPT", "aCCepT"])
  func lookup(name: String) {
    #expect(fields.first(name) == "a")
    #expect(fields.all(name) == ["a", "b", "a"])
    #expect(fields.list(name) == "a, b, a")
    #expect(fields.contains(name))
  }

  @Test(
    "looking up a missing field returns nil", arguments: ["", "accep", "accept1", "àccept", "Ho\u{17F}t", "h"])
  func missing(name: String) {
    #expect(fields.first(name) == nil)
    #expect(fields.all(name) == [])
    #expect(fields.list(name) == nil)
    #expect(!fields.contains(name))
  }

  @Test("a field's valueBytes contains the received bytes of a value that isn't UTF-8")
  func valueBytes() throws {
    let wire = "HTTP/1.1 200 OK\r\nName:  M\u{FC}ller \r\nEmpty:\r\nname: \u{80}\r\nContent-Length: 0\r\n\r\n".latin1
    let head = try #require(Transcript(of: [wire[...]], method: "GET", peerCloses: false).head)
    #expect(head.fields.first("NAME") == "M\u{FFFD}ller")
    #expect(head.fields.valueBytes("NAME") == "M\u{FC}ller".latin1)
    #expect(head.fields.indices.map(head.fields.valueBytes(at:)) == ["M\u{FC}ller".latin1, [], [0x80], [0x30]])
    #expect(head.fields.valueBytes("empty") == [])
    #expect(head.fields.valueBytes("none") == nil)
  }

  @Test("a field with an empty value counts as present")
  func emptyValue() {
    #expect(fields.first("x") == "")
    #expect(fields.list("x") == "")
    #expect(fields.contains("x"))
  }

  @Test("field names aren't equal if they differ by 0x20 in characters that aren't letters")
  func caseBit() {
    let fields: Fields = ["a[": "1", "a{": "2", "a@": "3", "a`": "4"]
    #expect(fields.all("A[") == ["1"])
    #expect(fields.all("A{") == ["2"])
    #expect(fields.all("a@") == ["3"])
    #expect(fields.all("a`") == ["4"])
  }

  @Test("removing a field removes all lines with its name, and no others")
  func removal() {
    var fields = fields
    fields.remove("aCCEPT")
    #expect(fields.wireLines == ["Host: h", "X: "])
    fields.remove("nothing")
    #expect(fields.wireLines == ["Host: h", "X: "])
    fields.append(name: "Accept", value: "c")
    #expect(fields.wireLines == ["Host: h", "X: ", "Accept: c"])
  }

  @Test("replacing the value of a field, or appending missing fields, leaves all other lines unchanged")
  func replacement() throws {
    var fields: Fields = ["A": "1", "B": "2", "b": "x", "C": ""]
    for value in ["", "a longer value", "3"] {
      fields.set(name: "b", value: value)
      #expect(fields.wireLines == ["A: 1", "b: \(value)", "b: x", "C: "])
      #expect(try sentText(of: fields) == "A: 1\r\nb: \(value)\r\nb: x\r\nC: \r\n")
    }
    fields.remove("a")
    fields.set(name: "c", value: "4")
    fields.appendMissing(["B": "y", "D": "5"])
    #expect(fields.wireLines == ["b: 3", "b: x", "c: 4", "D: 5"])
    #expect(try sentText(of: fields) == "b: 3\r\nb: x\r\nc: 4\r\nD: 5\r\n")
  }

  private func sentText(of fields: Fields) throws -> String {
    var output: [UInt8] = []
    try HeadSerializer.appendLines(of: fields, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test("changing a copy of a Fields value doesn't change the original")
  func copies() {
    var copy = fields
    copy.remove("host")
    #expect(fields.contains("host"))
    #expect(!copy.contains("host"))
  }

  @Test(
    "two sets of fields are equal if their lines have the same order and values, and names that differ only in case",
    arguments: [
      (["A": "1", "B": "2"], ["a": "1", "b": "2"], true), ([:], [:], true),
      (["A": "1", "B": "2"], ["B": "2", "A": "1"], false), (["A": "1"], ["A": "1", "B": "2"], false),
      (["A": "x"], ["A": "X"], false), (["AB": "c"], ["A": "Bc"], false),
      // Swift's String regards the two values as equal, but a server doesn't.
      (["A": "\u{E9}"], ["A": "e\u{301}"], false), (["A": "K"], ["A": "\u{212A}"], false),
    ] as [(Fields, Fields, Bool)])
  func equality(left: Fields, right: Fields, areEqual: Bool) {
    #expect((left == right) == areEqual)
    #expect((right == left) == areEqual)
  }

  @Test("field lines that were removed don't affect whether two sets of fields are equal")
  func equalityAfterRemoval() {
    var left: Fields = ["Secret": "x", "A": "1"]
    left.remove("secret")
    #expect(left == ["A": "1"])
  }

  @Test("printed fields have a line each, without the values of credentials and cookies and without control characters")
  func description() {
    let fields: Fields = [
      "Host": "h", "authorization": "Bearer s3cret", "Proxy-Authorization": "s3cret", "COOKIE": "a=s3cret",
      "Set-Cookie": "a=s3cret; Path=/", "X": "a\u{1B}[2J", "Empty": "",
    ]
    let text = """
      Host: h
      authorization: Bearer (not shown)
      Proxy-Authorization: (not shown)
      COOKIE: (not shown)
      Set-Cookie: (not shown)
      X: a\\u{1b}[2J
      Empty: \("")
      """
    #expect(fields.description == text && String(reflecting: fields) == text)
    #expect(Fields().description.isEmpty)
    #expect(!String(describing: RequestHead(method: "GET", target: "/", fields: fields)).contains("s3cret"))
  }
}
