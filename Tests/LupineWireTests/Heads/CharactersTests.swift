// CharactersTests: compares the character classes with the characters that the grammars list.

@testable import LupineWire
import Testing

@Suite("CharacterClass")
struct CharactersTests {
  private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

  @Test(
    "each of the parser's character classes contains exactly the characters that the RFC's grammar lists",
    arguments: [
      (CharacterClass.token, "!#$%&'*+-.^_`|~"),
      (.token68, "-._~+/"),
      (.unreserved, "-._~"),
      (.registeredName, "-._~!$&'()*+,;="),
      (.pathOrQuery, "-._~!$&'()*+,;=:@/?%[]"),
    ])
  func members(of characters: CharacterClass, besideAlphanumerics: String) {
    let expected = Set((Self.alphanumerics + besideAlphanumerics).utf8)
    #expect(Set((UInt8.min...UInt8.max).filter(characters.contains)) == expected)
  }
}
