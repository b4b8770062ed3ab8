// ContentRangeTests: strict parsing of Content-Range (RFC 9110 §14.4).

import LupineWire
import Testing

@Suite("Content-Range")
struct ContentRangeTests {
  @Test(
    "the parser accepts each valid form of Content-Range",
    arguments: [
      // The examples of RFC 9110 §14.4.
      ("bytes 42-1233/1234", .bytes(first: 42, last: 1233, completeLength: 1234)),
      ("bytes 42-1233/*", .bytes(first: 42, last: 1233, completeLength: nil)),
      ("bytes */1234", .unsatisfied(completeLength: 1234)),
      ("bytes 0-499/1234", .bytes(first: 0, last: 499, completeLength: 1234)),
      ("bytes 734-1233/1234", .bytes(first: 734, last: 1233, completeLength: 1234)),
      // The smallest and the largest values, leading zeros, and the unit in any letter case.
      ("bytes 0-0/1", .bytes(first: 0, last: 0, completeLength: 1)), ("bytes */0", .unsatisfied(completeLength: 0)),
      ("bytes 0-0/*", .bytes(first: 0, last: 0, completeLength: nil)),
      (
        "bytes 9223372036854775806-9223372036854775806/9223372036854775807",
        .bytes(first: 1 << 63 - 2, last: 1 << 63 - 2, completeLength: 1 << 63 - 1)
      ),
      ("bytes 5-9223372036854775807/*", .bytes(first: 5, last: 1 << 63 - 1, completeLength: nil)),
      ("bytes 007-0008/000000000000000000000000000009", .bytes(first: 7, last: 8, completeLength: 9)),
      ("Bytes 1-2/3", .bytes(first: 1, last: 2, completeLength: 3)),
      ("BYTES */3", .unsatisfied(completeLength: 3)),
    ] as [(String, ContentRange)])
  func read(text: String, range: ContentRange) {
    #expect(ContentRange(text) == range)
  }

  @Test(
    "the parser refuses a Content-Range that isn't exactly one range",
    arguments: [
      "", " ", "bytes", "bytes ", "bytes 0", "bytes 0-", "bytes 0-1", "bytes 0-1/", "bytes -1/2", "bytes -/2",
      "bytes 0/2", "bytes *", "bytes */", "bytes */*", "bytes *-1/2", "bytes 0-*/2", "bytes 0-1/2/3",
      // Other units or none, white space, several ranges, and several joined fields.
      "items 0-1/2", "0-1/2", "byte 0-1/2", "bytes=0-1/2", "bytes: 0-1/2", "bytes\t0-1/2", "bytes  0-1/2",
      " bytes 0-1/2", "bytes 0-1/2 ", "bytes 0 -1/2", "bytes 0- 1/2", "bytes 0-1 /2", "bytes 0-1/ 2",
      "bytes 0-1,2-3/4", "bytes 0-1/2, bytes 0-1/2", "bytes 0-1/2\0", "bytes 0-1/2\r\n",
      // Ranges whose last position precedes the first one, or is after the end.
      "bytes 2-1/3", "bytes 0-2/2", "bytes 0-0/0", "bytes 5-9/9",
      // Numbers with signs, other digits or other bases.
      "bytes +0-1/2", "bytes 0-+1/2", "bytes 0--1/2", "bytes 0-1/-2", "bytes */-1", "bytes 0-1/2.0", "bytes 0x0-1/2",
      "bytes 0-1e1/20", "bytes ٠-١/٢", "bytes 0-1/２",
      // Numbers that exceed the largest length, 2^63 - 1.
      "bytes */9223372036854775808", "bytes 0-9223372036854775808/*", "bytes 0-1/9223372036854775808",
      "bytes */18446744073709551615", "bytes */18446744073709551616", "bytes 18446744073709551616-0/1",
      "bytes */184467440737095516150", "bytes */99999999999999999999999999999999999999999999",
    ])
  func refused(text: String) {
    #expect(ContentRange(text) == nil)
  }

  @Test("of all Content-Range values with small numbers, the parser accepts exactly the valid values")
  func exhaustive() {
    for first in 0..<6 as Range<UInt64> {
      for last in 0..<6 as Range<UInt64> {
        for length in 0..<7 as Range<UInt64> {
          let isRange = first <= last && last < length
          let expected = isRange ? ContentRange.bytes(first: first, last: last, completeLength: length) : nil
          #expect(ContentRange("bytes \(first)-\(last)/\(length)") == expected)
        }
      }
    }
  }
}
