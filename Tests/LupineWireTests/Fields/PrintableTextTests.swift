// PrintableTextTests: text from peers, escaped for terminals and logs.

import LupineWire
import Testing

@Suite struct PrintableTextTests {
  @Test(
    "text from a peer is escaped where it could control a terminal, break a line or change the direction of text",
    arguments: [
      ("", ""), ("plain\ttext é漢😃", "plain\ttext é漢😃"), ("a\u{200D}b\u{FEFF}", "a\u{200D}b\u{FEFF}"),
      ("\0\u{1B}[2J\u{7F}", #"\u{0}\u{1b}[2J\u{7f}"#),
      ("\u{80}\u{85}\u{9B}\u{9F}\u{A0}", "\\u{80}\\u{85}\\u{9b}\\u{9f}\u{A0}"),
      ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
      ("\u{202E}a\u{2066}\u{200F}\u{61C}", #"\u{202e}a\u{2066}\u{200f}\u{61c}"#),
      ("a\rb", #"a\u{d}b"#),
    ])
  func escapes(text: String, printed: String) {
    #expect(text.printable == printed && text.printableLines == printed)
  }

  @Test("line ends are escaped in a single line, and kept in a text with several lines, except for a lone CR")
  func lineEnds() {
    let text = "a\nb\r\nc\r\r\n\r"
    #expect(text.printable == #"a\u{a}b\u{d}\u{a}c\u{d}\u{d}\u{a}\u{d}"#)
    #expect(text.printableLines == "a\nb\r\nc\\u{d}\r\n\\u{d}")
  }

  @Test("markup is escaped for XML, also before a combining mark")
  func markup() {
    #expect("<a b=\"1\">&\u{301}".xmlEscaped == "&lt;a b=&quot;1&quot;&gt;&amp;\u{301}")
    #expect("\"\u{301}<\u{301}>\u{301}".xmlEscaped == "&quot;\u{301}&lt;\u{301}&gt;\u{301}")
  }
}
