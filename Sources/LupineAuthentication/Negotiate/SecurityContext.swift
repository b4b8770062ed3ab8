// SecurityContext: the interface of a GSSAPI security context, which produces the tokens of Negotiate (RFC 2743 §2.2.1).

/// The client's side of a security context with one server.
///
/// Implementations may block, for example while they request a ticket from a key distribution center, so they are never
/// called on an event loop.
package protocol SecurityContext: Sendable {
  /// Processes the server's token, which is nil in the first call, and returns the next token.
  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep
}

/// The result of one step of a context.
package enum SecurityContextStep: Sendable, Hashable {
  /// The caller must send the token and pass the server's answer to the next step.
  case proceed([UInt8])
  /// The context is established. If there is a token, the caller must send it. `isMutual`
  /// is true if the server has proven its identity.
  case established([UInt8]?, isMutual: Bool)
}

/// The error that prevents a context from being established.
package struct SecurityContextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause and its remedy.
  package let description: String

  /// Creates an error.
  package init(_ description: String) { self.description = description }
}
