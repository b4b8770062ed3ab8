// GSSAPIContext: a security context of SPNEGO, with the Kerberos ticket of the process's user (RFC 4178, RFC 2744 §5.19).

import CLupineGSSAPI
package import LupineAuthentication
import Synchronization

/// The client's GSSAPI security context for one HTTP service. Each step may block while the library requests a Kerberos ticket.
package final class GSSAPIContext: SecurityContext {
  private struct State: ~Copyable {
    // SAFETY: the library created both, and the lock around the state ensures that only one thread uses them at a time.
    var context: UnsafeMutableRawPointer?
    var target: UnsafeMutableRawPointer?
  }

  private let library: GSSAPILibrary
  private let binding: ChannelBinding?
  private let state: Mutex<State>

  // 1.3.6.1.5.5.2
  private static let spnego: [UInt8] = [0x2B, 6, 1, 5, 5, 2]
  // GSS_C_NT_HOSTBASED_SERVICE: 1.2.840.113554.1.2.1.4
  private static let hostBasedService: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 1, 2, 1, 4]
  // GSS_C_MUTUAL_FLAG
  private static let mutual: UInt32 = 2
  // GSS_S_CONTINUE_NEEDED
  private static let continueNeeded: UInt32 = 1
  // The bits of a GSSAPI status that report calling errors and routine errors. The other bits are information.
  private static let errors: UInt32 = 0xFFFF_0000

  /// Creates a security context for the service HTTP on `host`. If `binding` isn't nil, the context is bound to the TLS connection
  /// with this channel binding.
  package init(
    host: String, binding: ChannelBinding?, library: GSSAPILibrary
  ) throws(SecurityContextError) {
    self.library = library
    self.binding = binding
    var minor: UInt32 = 0
    var target: UnsafeMutableRawPointer?
    var name = Array("HTTP@\(host)".utf8)
    let status = Self.withIdentifier(Self.hostBasedService) { type in
      // SAFETY: the library copies the name during the call.
      Self.withBuffer(&name) { library.importName(&minor, $0, type, &target) }
    }
    guard status & Self.errors == 0 else {
      throw SecurityContextError(library.description(major: status, minor: minor))
    }
    state = Mutex(State(context: nil, target: target))
  }

  deinit {
    state.withLock { state in
      var minor: UInt32 = 0
      if state.context != nil { _ = library.deleteContext(&minor, &state.context, nil) }
      if state.target != nil { _ = library.releaseName(&minor, &state.target) }
    }
  }

  package func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
    try state.withLock { state throws(SecurityContextError) in
      var (minor, flags) = (UInt32(0), UInt32(0))
      var output = lupine_gss_buffer()
      var input = token ?? []
      let status = Self.withIdentifier(Self.spnego) { mechanism in
        Self.withBuffer(&input) { input in
          withBindings { bindings in
            // SAFETY: all pointers are valid during the call; the library allocates the output.
            library.initContext(
              &minor, nil, &state.context, state.target, mechanism, Self.mutual, 0, bindings,
              token == nil ? nil : input, nil, &output, &flags, nil)
          }
        }
      }
      let next = library.take(&output)
      guard status & Self.errors == 0 else {
        throw SecurityContextError(library.description(major: status, minor: minor))
      }
      if status & Self.continueNeeded != 0 { return .proceed(next) }
      return .established(next.isEmpty ? nil : next, isMutual: flags & Self.mutual != 0)
    }
  }

  /// Calls `body` with the context's channel binding in the form that GSSAPI requires, or with nil if the context has none.
  private func withBindings<Result>(_ body: (UnsafePointer<lupine_gss_channel_bindings>?) -> Result) -> Result {
    guard var data = binding?.applicationData else { return body(nil) }
    return Self.withBuffer(&data) { buffer in
      var bindings = lupine_gss_channel_bindings()
      bindings.application_data = buffer.pointee
      return withUnsafePointer(to: &bindings, body)
    }
  }

  private static func withBuffer<Result>(
    _ bytes: inout [UInt8], _ body: (UnsafePointer<lupine_gss_buffer>) -> Result
  ) -> Result {
    bytes.withUnsafeMutableBytes { bytes in
      // SAFETY: the buffer points to the bytes, which live until `body` returns. The library only reads them.
      var buffer = lupine_gss_buffer(length: bytes.count, value: bytes.baseAddress)
      return withUnsafePointer(to: &buffer, body)
    }
  }

  private static func withIdentifier<Result>(
    _ bytes: [UInt8], _ body: (UnsafePointer<lupine_gss_oid>) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { bytes in
      // SAFETY: as in `withBuffer`.
      var identifier = lupine_gss_oid(length: UInt32(bytes.count), elements: bytes.baseAddress)
      return withUnsafePointer(to: &identifier, body)
    }
  }
}
