// SecurityContext: the interface of a GSSAPI security context, from which Negotiate takes its tokens (RFC 2743 §2.2.1).

/// The client's side of a security context with one server.
///
/// Implementations may block, for example while they request a ticket from a key distribution center, so they are never
/// called on an event loop.
package protocol SecurityContext: Sendable {
  /// Takes the server's token, nil at first, and returns the next one.
  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep
}

/// The result of one step of a context.
package enum SecurityContextStep: Sendable, Hashable {
  /// The token has to be sent, and the server's answer is required.
  case proceed([UInt8])
  /// The context is established. The token, if any, has to be sent.
  case established([UInt8]?, isMutual: Bool)
}

/// The reason for which a context can't be established.
package struct SecurityContextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause and its remedy.
  package let description: String

  /// Creates an error.
  package init(_ description: String) { self.description = description }
}
