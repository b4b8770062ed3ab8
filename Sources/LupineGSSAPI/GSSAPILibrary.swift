// GSSAPILibrary: the system's GSSAPI library, loaded on first use (RFC 2744).

import CLupineGSSAPI
package import LupineAuthentication
import LupineLibc

/// The functions of a GSSAPI library that was loaded at run time. The library is never unloaded, because its threads and handlers
/// may still run.
package struct GSSAPILibrary: Sendable {
  /// The file name of the system's GSSAPI library on Linux, which is part of MIT Kerberos.
  package static let systemName = "libgssapi_krb5.so.2"

  let importName: lupine_gss_import_name
  let releaseName: lupine_gss_release_name
  /// A variable, so that a test can replace the function.
  var initContext: lupine_gss_init_sec_context
  let deleteContext: lupine_gss_delete_sec_context
  let releaseBuffer: lupine_gss_release_buffer
  let displayStatus: lupine_gss_display_status

  private static let system = Result { () throws(SecurityContextError) in try GSSAPILibrary(named: systemName) }

  /// Returns the system's GSSAPI library. If it is missing, throws a `SecurityContextError` that names the package to install.
  package static func loaded() throws(SecurityContextError) -> GSSAPILibrary { try system.get() }

  /// Loads the GSSAPI library with this file name. Throws a `SecurityContextError` if the library or one of its functions is
  /// missing.
  package init(named name: String) throws(SecurityContextError) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw SecurityContextError(
        "Negotiate needs \(name), which can't be loaded. Install the package libgssapi-krb5-2 (Debian, Ubuntu) or "
          + "krb5-libs (Fedora).")
    }
    // SAFETY: RFC 2744 fixes these functions' signatures, and CLupineGSSAPI.h declares them.
    importName = unsafeBitCast(try Self.symbol("gss_import_name", of: handle), to: lupine_gss_import_name.self)
    releaseName = unsafeBitCast(try Self.symbol("gss_release_name", of: handle), to: lupine_gss_release_name.self)
    initContext = unsafeBitCast(
      try Self.symbol("gss_init_sec_context", of: handle), to: lupine_gss_init_sec_context.self)
    deleteContext = unsafeBitCast(
      try Self.symbol("gss_delete_sec_context", of: handle), to: lupine_gss_delete_sec_context.self)
    releaseBuffer = unsafeBitCast(try Self.symbol("gss_release_buffer", of: handle), to: lupine_gss_release_buffer.self)
    displayStatus = unsafeBitCast(try Self.symbol("gss_display_status", of: handle), to: lupine_gss_display_status.self)
  }

  private static func symbol(
    _ name: String, of handle: UnsafeMutableRawPointer
  ) throws(SecurityContextError) -> UnsafeMutableRawPointer {
    guard let symbol = dlsym(handle, name) else {
      throw SecurityContextError("The GSSAPI library has no function \(name). Reinstall the package libgssapi-krb5-2.")
    }
    return symbol
  }

  /// The maximum number of lines in the description of a GSSAPI status: 8. Libraries return at most two or three lines.
  private static let statusLinesMax = 8

  /// Returns the GSSAPI library's description of a status code (`major`) and of the mechanism's own status code (`minor`).
  func description(major: UInt32, minor: UInt32) -> String {
    // GSS_C_GSS_CODE is 1, GSS_C_MECH_CODE 2.
    (lines(of: major, kind: 1) + lines(of: minor, kind: 2)).joined(separator: " ")
  }

  private func lines(of status: UInt32, kind: CInt) -> [String] {
    var position: UInt32 = 0
    var lines: [String] = []
    repeat {
      var minor: UInt32 = 0
      var text = lupine_gss_buffer()
      guard displayStatus(&minor, status, kind, nil, &position, &text) == 0 else { break }
      lines.append(String(decoding: take(&text), as: UTF8.self))
    } while position != 0 && lines.count < Self.statusLinesMax
    return lines.filter { !$0.isEmpty }.map { $0.hasSuffix(".") ? $0 : $0 + "." }
  }

  /// Copies the bytes of a buffer that the GSSAPI library has allocated, and then frees the buffer.
  func take(_ buffer: inout lupine_gss_buffer) -> [UInt8] {
    // SAFETY: the library has set value and length; they are valid until the release below.
    let bytes = [UInt8](UnsafeRawBufferPointer(start: buffer.value, count: buffer.value == nil ? 0 : buffer.length))
    var minor: UInt32 = 0
    _ = releaseBuffer(&minor, &buffer)
    return bytes
  }
}
