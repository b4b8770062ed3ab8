// NegotiateTests: the order of tokens, and the verification that the server has proven its identity.

import Testing

@testable import LupineAuthentication

@Suite("Negotiate")
struct NegotiateTests {
  /// A security context that returns the given steps in order, and throws if the server's token isn't the expected one.
  private struct ScriptedContext: SecurityContext {
    var steps: [SecurityContextStep]
    var expected: [[UInt8]?]

    mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
      guard !steps.isEmpty, token == expected.removeFirst() else { throw SecurityContextError("defective token") }
      return steps.removeFirst()
    }
  }

  private typealias Handshake = NegotiateHandshake

  private func handshake(_ steps: [SecurityContextStep], expecting tokens: [[UInt8]?]) -> Handshake {
    NegotiateHandshake(ScriptedContext(steps: steps, expected: tokens))
  }

  @Test("with Kerberos, the client sends one token, and the token in the final response proves the server's identity")
  func kerberos() throws {
    var handshake = handshake([.proceed([1]), .established(nil, isMutual: true)], expecting: [nil, [2]])
    #expect(try handshake.start() == [1])
    try handshake.finish([2])
  }

  @Test(
    "if a Negotiate security context needs several steps, the client answers each challenge with the next step's token")
  func severalSteps() throws {
    var handshake = handshake([.proceed([1]), .established([3], isMutual: true)], expecting: [nil, [2]])
    #expect(try handshake.start() == [1])
    #expect(try handshake.answer([2]) == [3])
    try handshake.finish(nil)
  }

  @Test(
    "Negotiate fails if the final response doesn't prove the server's identity, even if a later response does",
    arguments: [
      (.established(nil, isMutual: false), [2]), (.proceed([3]), [2]), (.established(nil, isMutual: true), nil),
    ] as [(SecurityContextStep, [UInt8]?)])
  func unproven(step: SecurityContextStep, token: [UInt8]?) throws {
    var handshake = handshake([.proceed([1]), step], expecting: [nil, [2]])
    _ = try handshake.start()
    #expect(throws: Handshake.Failure.serverIsUnproven) { try handshake.finish(token) }
    #expect(throws: Handshake.Failure.serverIsUnproven) { try handshake.finish([2]) }
  }

  @Test("if the server sends an invalid Negotiate token, the handshake fails with the security context's error")
  func defectiveToken() throws {
    var handshake = handshake([.proceed([1]), .established(nil, isMutual: true)], expecting: [nil, [2]])
    _ = try handshake.start()
    #expect(throws: Handshake.Failure.context(SecurityContextError("defective token"))) { try handshake.finish([9]) }
  }

  @Test(
    "a 401 that completes a Negotiate context means a refused credential, even if the 401's token proves the server's identity"
  )
  func refusedUser() throws {
    for isMutual in [true, false] {
      var handshake = handshake([.proceed([1]), .established(nil, isMutual: isMutual)], expecting: [nil, [2]])
      _ = try handshake.start()
      #expect(throws: Handshake.Failure.refused) { try handshake.answer([2]) }
      #expect(throws: Handshake.Failure.refused) { try handshake.finish([2]) }
    }
  }

  @Test("a Negotiate challenge without a token, or after the last step, means that the server refused the credential")
  func refusals() throws {
    var handshake = handshake([.proceed([1])], expecting: [nil])
    _ = try handshake.start()
    #expect(throws: Handshake.Failure.refused) { try handshake.answer(nil) }

    var complete = self.handshake([.established([1], isMutual: true)], expecting: [nil])
    _ = try complete.start()
    #expect(throws: Handshake.Failure.refused) { try complete.answer([2]) }
  }

  @Test("a Negotiate handshake fails if the server sends more tokens than the limit allows")
  func endless() throws {
    let count = Handshake.stepsMax
    var handshake = handshake(
      Array(repeating: .proceed([1]), count: count + 1), expecting: [nil] + Array(repeating: [2], count: count))
    _ = try handshake.start()
    for _ in 1..<count { _ = try handshake.answer([2]) }
    #expect(throws: Handshake.Failure.tooManySteps) { try handshake.answer([2]) }
  }
}
