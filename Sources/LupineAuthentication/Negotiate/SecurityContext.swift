// SecurityContext: the interface of a GSSAPI security context, which produces the tokens of Negotiate (RFC 2743 §2.2.1).

/// The client's side of a GSSAPI security context with one server.
///
/// Creating a context and taking its first step may block, for example while the library requests a ticket from a key distribution
/// center, so neither is done on an event loop. The later steps use this ticket and need no I/O, unless the server selects a
/// mechanism other than that of the client's first token (RFC 4178 §4.2.2).
///
/// A session takes most later steps on its queue. It takes two steps on an event loop: it verifies the last token of an origin or a
/// proxy there, and answers the token in a proxy's 407 response to CONNECT. The command `lupine` takes all later steps on an event
/// loop.
package protocol SecurityContext: Sendable {
  /// Passes the server's token to GSSAPI. The token is nil in the first call. Returns the token to send next, and whether the
  /// context is established. Throws the reason if the context can't be established.
  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep
}

/// The result of one step of a GSSAPI security context.
package enum SecurityContextStep: Sendable, Hashable {
  /// The security context needs another step. The caller must send this token to the server, and pass the server's next token to
  /// `step`.
  case proceed([UInt8])
  /// The security context is established. The caller must send the token to the server, unless it is nil. `isMutual` is true if the
  /// server has proven its identity.
  case established([UInt8]?, isMutual: Bool)
}

/// The reason why a GSSAPI security context can't be established.
package struct SecurityContextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A text that states why the security context can't be established, and a remedy.
  package let description: String

  /// Creates an error from a text that states the cause and a remedy.
  package init(_ description: String) { self.description = description }
}
