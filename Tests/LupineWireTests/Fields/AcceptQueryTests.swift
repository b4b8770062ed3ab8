// AcceptQueryTests: the field with which servers list the formats of queries.

import LupineWire
import Testing

@Suite("AcceptQuery")
struct AcceptQueryTests {
  @Test(
    "the formats in Accept-Query are read, whether they are tokens or strings",
    arguments: [
      ("application/sql", ["application/sql"]), ("\"application/jsonpath\"", ["application/jsonpath"]),
      ("\"application/jsonpath\", application/sql;charset=\"UTF-8\"", ["application/jsonpath", "application/sql"]),
      ("  text/*\t,\ttext/plain  ", ["text/*", "text/plain"]), ("*/*", ["*/*"]), ("Text/HTML", ["text/html"]),
      ("\"a/b\\\\c\"", nil), ("", []), ("   ", []),
      ("a/b,", nil), (",a/b", nil), ("a/b c/d", nil), ("a", nil), ("a/", nil), ("/b", nil), ("a/b/c", nil),
      ("*/b", nil),
      ("\"a/b", nil), ("\"a/b\\", nil), ("\"a/\u{E9}\"", nil), ("a/b;", nil), ("a/b;X=1", nil), ("a/b;1=1", nil),
      ("a/b;q=", nil), ("a/b; q=0.5;*;c=\"\\\"\"", ["a/b"]), ("a/b ;q=1", nil), ("(a/b)", nil),
    ] as [(String, [String]?)])
  func syntax(value: String, types: [String]?) {
    #expect(AcceptQuery(value)?.mediaRanges.map(\.type) == types)
  }

  @Test("the parameters of a format are read, with and without values")
  func parameters() throws {
    let range = try #require(AcceptQuery("a/b; charset=\"UTF-8\";x;level=1")?.mediaRanges.first)
    #expect(
      range.parameters == [
        Challenge.Parameter(name: "charset", value: "UTF-8"), Challenge.Parameter(name: "x", value: ""),
        Challenge.Parameter(name: "level", value: "1"),
      ])
  }

  @Test(
    "a query is accepted if any of the ranges contains its media type",
    arguments: [
      ("text/*, application/sql", "text/plain", true), ("text/*, application/sql", "Application/SQL; charset=x", true),
      ("text/*", "application/sql", false), ("*/*", "a/b", true), ("", "a/b", false), ("text/*", "textile/x", false),
    ])
  func accepts(value: String, type: String, isAccepted: Bool) throws {
    #expect(try #require(AcceptQuery(value)).accepts(type) == isAccepted)
  }

  @Test("the lines of several fields form one list, and a missing field is nil")
  func fields() {
    var fields = Fields()
    #expect(fields.acceptQuery == nil)
    fields.append(name: "accept-query", value: "a/b")
    fields.append(name: "Accept-Query", value: "\"c/d\"")
    #expect(fields.acceptQuery?.mediaRanges.map(\.type) == ["a/b", "c/d"])
  }

  @Test("a field with too many formats is ignored")
  func limit() {
    let most = Array(repeating: "a/b", count: AcceptQuery.mediaRangesMax).joined(separator: ",")
    #expect(AcceptQuery(most)?.mediaRanges.count == AcceptQuery.mediaRangesMax)
    #expect(AcceptQuery(most + ",a/b") == nil)
  }
}
