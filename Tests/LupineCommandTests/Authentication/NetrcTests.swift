// NetrcTests: the syntax of netrc files, and the login that is found for a host.

import LupineAuthentication
import Testing

@testable import LupineCommand

@Suite("Netrc files")
struct NetrcTests {
  /// Returns "user:password" for the login that netrc text contains for a host, or nil if there is none.
  private func login(_ text: String, _ host: String = "h", user: String? = nil) throws -> String? {
    try Netrc(Array(text.utf8)).login(for: host, user: user).map { "\($0.user):\($0.password)" }
  }

  @Test(
    "the netrc parser finds a host's user name and password",
    arguments: [
      ("machine h login u password p", "u:p"),
      ("machine other login v password w\nmachine h login u password p\n", "u:p"),
      ("MACHINE H\n\tLogin u\r\n\tPASSWORD p\r\n", "u:p"),
      ("machine h password p login u", "u:p"),
      ("machine h login u", "u:"), ("machine h password p", ":p"),
      ("machine hh login u password p", nil), ("machine h", nil), ("", nil), ("machine", nil), ("login u", nil),
      // An entry with a host but without a login doesn't end the search.
      ("machine h machine h login u password p", "u:p"),
      // Of several logins for a host, the first one is used.
      ("machine h login u password p machine h login v password w", "u:p"),
      ("machine h login u password p login v password w", "u:p"),
      ("default login d password e machine h login u password p", "d:e"),
      ("machine h login u password p default login d password e", "u:p"),
      ("machine x login u password p default login d password e", "d:e"),
      // The first password of a login is used, and a login with a password is preferred to one without.
      ("machine h login u password p password q", "u:p"), ("machine h login u machine h login v password w", "v:w"),
      // Unknown words are skipped. The word account is skipped with its value.
      ("machine h account password login u port 1 password p", "u:p"),
      ("machine h login machine password default", "machine:default"),
    ] as [(String, String?)])
  func hosts(text: String, login: String?) throws {
    #expect(try self.login(text) == login)
  }

  @Test("of several netrc logins for a host, the netrc parser returns the login with the URL's user name")
  func users() throws {
    let text = "machine h login u password p login v password w\nmachine h login x\ndefault login y password z"
    #expect(try login(text, user: "v") == "v:w")
    #expect(try login(text, user: "x") == "x:")
    #expect(try login(text, user: "y") == "y:z")
    #expect(try login(text, user: "U") == nil)
    #expect(try login("machine h password p", user: "u") == nil)
  }

  @Test("the netrc parser returns the login of a default entry only if the caller allows that")
  func defaultLogin() throws {
    let netrc = try Netrc(Array("machine h login u password p default login d password e".utf8))
    #expect(netrc.login(for: "other")?.user == "d")
    #expect(netrc.login(for: "other", allowsDefault: false) == nil)
    #expect(netrc.login(for: "h", allowsDefault: false)?.user == "u")
  }

  @Test(
    "only quoted tokens in a netrc file may contain escapes and white space",
    arguments: [
      ("\"p q\"", "p q"), ("\"\"", ""), (#""a\"b\\c\n\r\t\x""#, "a\"b\\c\n\r\tx"), (#"a\"b"#, #"a\"b"#),
      ("p#q", "p#q"), ("#p", "#p"), ("\"#p\nq\"", "#p\nq"), ("p\"q\"", "p\"q\""), ("\"é\"", "é"),
    ])
  func quotes(token: String, password: String) throws {
    #expect(try login("machine h login u password \(token)\n") == "u:\(password)")
  }

  @Test("the netrc parser skips comments, and skips a macro up to an empty line")
  func skipped() throws {
    let macro = "macdef init\nmachine h login m password m\n# more\n"
    #expect(try login("  # machine h login c password c\n\(macro) \t\nmachine h login u password p") == "u:p")
    #expect(try login("\(macro)\r\nmachine h login u password p") == "u:p")
    #expect(try login("\(macro)machine h login u password p") == nil)
    #expect(try login("machine h login u\n\(macro)\npassword p") == "u:p")
  }

  @Test("the netrc parser never reads a comment after an entry as a host or a password")
  func trailingComments() throws {
    let renamed = "machine new.example # was machine old.example\nlogin o password p"
    #expect(try login(renamed, "old.example") == nil && login(renamed, "new.example") == "o:p")
    #expect(try login("machine h login u password p # password for staging") == "u:p")
    #expect(try login("machine h # macdef\nlogin u password #p #\n# x") == "u:#p")
  }

  @Test("the netrc parser refuses a malformed file with an error that contains the line's number")
  func defects() throws {
    func defect(_ bytes: [UInt8]) -> Netrc.Defect? {
      do throws(Netrc.Defect) {
        _ = try Netrc(bytes)
        return nil
      } catch {
        return error
      }
    }
    #expect(defect(Array("machine h\nlogin \"u\npassword p\n".utf8)) == .quoteIsOpen(line: 2))
    #expect(defect(Array("#\nmacdef m\nx\n\n\"u\\".utf8)) == .quoteIsOpen(line: 5))
    #expect(defect(Array("machine h\n\nlogin ".utf8) + [0xFF]) == .notUTF8(line: 3))
    let token = [UInt8](repeating: 0x61, count: Netrc.tokenBytesMax)
    #expect(defect(token) == nil && defect(token + [0x61]) == .tokenIsTooLong(line: 1))
    #expect(
      defect([0x22] + token + [0x22]) == nil && defect([0x0A, 0x22] + token + [0x61]) == .tokenIsTooLong(line: 2))
    let spaces = [UInt8](repeating: 0x20, count: Netrc.fileBytesMax)
    #expect(defect(spaces) == nil && defect(spaces + [0x20]) == .fileIsTooLong)
  }
}
