// GSSAPITests: loading of the system's library, and its errors. `AuthenticationTests` has contexts with a ticket.

import LupineAuthentication
import Testing

@testable import LupineGSSAPI

@Suite("GSSAPI")
struct GSSAPITests {
  @Test("the error for a missing GSSAPI library names the package to install")
  func missing() {
    let error = #expect(throws: SecurityContextError.self) { try GSSAPILibrary(named: "libmissing.so.2") }
    #expect(error?.description.contains("libmissing.so.2") == true)
    #expect(error?.description.contains("libgssapi-krb5-2") == true)
  }

  @Test("the error for a GSSAPI library that lacks a function contains the function's name")
  func foreign() {
    let error = #expect(throws: SecurityContextError.self) { try GSSAPILibrary(named: "libc.so.6") }
    #expect(error?.description.contains("gss_import_name") == true)
  }

  @Test("without a Kerberos ticket, or with an invalid token, the security context fails with GSSAPI's error text")
  func noTicket() throws {
    // The Debian package is optional, so the library may be missing.
    guard let library = try? GSSAPILibrary.loaded() else { return }
    let context = try GSSAPIContext(host: "h.invalid", binding: nil, library: library)
    for token in [nil, [], [0x60, 0xFF]] as [[UInt8]?] {
      let error = #expect(throws: SecurityContextError.self) { try context.step(token) }
      #expect(error?.description.isEmpty == false)
    }
  }
}
