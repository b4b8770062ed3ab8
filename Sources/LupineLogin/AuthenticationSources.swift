// AuthenticationSources: the sources of random bytes, time and security contexts, which tests replace.

import LupineAuthentication
import LupineGSSAPI
import LupineLibc

/// The sources of random bytes, time and GSSAPI security contexts. Tests replace them.
struct AuthenticationSources: Sendable {
  /// Returns a new random client nonce (`cnonce`) for Digest authentication.
  var nonce: @Sendable () -> String = {
    (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
  }
  /// Returns 8 random bytes for the client's NTLM nonce.
  var bytes: @Sendable () -> [UInt8] = {
    var generator = SystemRandomNumberGenerator()
    return (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
  /// Returns the current time in units of 100 ns since 1601, as NTLM uses it.
  var time: @Sendable () -> UInt64 = {
    // There are 11,644,473,600 s between 1601 and 1970.
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(0, now.tv_sec + 11_644_473_600)) * 10_000_000 + UInt64(now.tv_nsec / 100)
  }
  /// Creates a GSSAPI security context for the service HTTP on a host. The call may block.
  var context: @Sendable (String, ChannelBinding?) throws(SecurityContextError) -> any SecurityContext = {
    (host, binding) throws(SecurityContextError) in
    try GSSAPIContext(host: host, binding: binding, library: try .loaded())
  }
}
