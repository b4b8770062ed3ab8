// `PublicSuffixes`: the rules of a list, the rules without a list, and internationalized names.

import Foundation
import Testing

@testable import LupineCookies

@Suite struct PublicSuffixTests {
  private static let list = """
    // ===BEGIN ICANN DOMAINS===
    com
    uk
    co.uk
    \t
    *.ck  what follows white space is no part of the rule
    !www.ck
    公司.cn
    香港
    github.io\r
    s3.amazonaws.com
    """

  @Test(
    "the rules in the public suffix list determine which domains are public suffixes",
    arguments: [
      ("com", true), ("example.com", false), ("co.uk", true), ("a.co.uk", false), ("uk", true), ("ck", true),
      ("a.ck", true), ("b.a.ck", false), ("www.ck", false), ("a.www.ck", false), ("github.io", true),
      ("a.github.io", false), ("xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false), ("xn--j6w193g", true),
      ("unlisted", true), ("a.unlisted", false), ("com.", true), ("co.uk.", true), ("a.ck.", true), ("www.ck.", false),
      ("example.com.", false), ("", true), (".", true), (".com", true), ("a..com", true), ("..", true),
      ("what", true), ("gov.fr", false),
    ])
  func rules(domain: String, isSuffix: Bool) {
    #expect(PublicSuffixes(list: Array(Self.list.utf8)).contains(domain) == isSuffix)
  }

  @Test(
    "a host's registrable domain consists of the public suffix and one more label",
    arguments: [
      ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("b.example.co.uk", "example.co.uk"),
      ("a.b.github.io", "b.github.io"), ("a.b.c.ck", "b.c.ck"), ("a.www.ck", "www.ck"), ("x.unlisted", "x.unlisted"),
      ("a.x.s3.amazonaws.com", "x.s3.amazonaws.com"), ("s3.amazonaws.com", nil), ("a.amazonaws.com", "amazonaws.com"),
      ("a.example.com.", "example.com."), ("com", nil), ("co.uk", nil), ("github.io", nil), ("localhost", nil),
      ("127.0.0.1", nil), ("::1", nil), ("/run/a.sock", nil), ("", nil), ("a..com", nil),
    ])
  func registrable(host: String, domain: String?) {
    #expect(PublicSuffixes(list: Array(Self.list.utf8)).registrableDomain(of: host) == domain)
  }

  @Test(
    "without a public suffix list, single labels and common country registries such as co.uk are public suffixes",
    arguments: [
      ("com", true), ("localhost", true), ("co.uk", true), ("com.au", true), ("or.jp", true), ("go.kr", true),
      ("gob.mx", true), ("example.com", false), ("example.uk", false), ("a.co.uk", false), ("co.example.com", false),
      ("co.com", false), ("github.io", false),
    ])
  func withoutList(domain: String, isSuffix: Bool) {
    #expect(PublicSuffixes(files: ["/nonexistent"]).contains(domain) == isSuffix)
  }

  @Test("the public suffix list is read from the first readable file that isn't too long")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "suffixes-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (long, short) = (folder.appending(path: "long"), folder.appending(path: "short"))
    try Data(("a.long\n" + String(repeating: "/", count: CookieLimits.suffixListBytesMax)).utf8).write(to: long)
    try Data("a.short\n".utf8).write(to: short)
    let suffixes = PublicSuffixes(files: [folder.path, long.path, "/nonexistent", short.path])
    #expect(suffixes.contains("a.short") && !suffixes.contains("a.long"))
  }

  @Test("co.uk is a public suffix both with the system's public suffix list and without a list")
  func system() {
    #expect(PublicSuffixes.system.contains("co.uk") && !PublicSuffixes.system.contains("example.co.uk"))
  }

  // From RFC 3492 §7.1, and from the public suffix list.
  @Test(
    "an internationalized domain label is encoded in Punycode, as in the DNS",
    arguments: [
      ("公司", "55qx5d"), ("香港", "j6w193g"), ("рф", "p1ai"), ("bücher", "bcher-kva"),
      ("vermögensberater", "vermgensberater-ctb"),
      ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"), ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
      ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
      ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"), ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
      ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
    ])
  func punycode(label: String, encoded: String) {
    #expect(Punycode.encode(label.unicodeScalars) == encoded)
    #expect(Punycode.asciiDomain("a.\(label).b".utf8) == "a.xn--\(encoded).b")
  }
}
