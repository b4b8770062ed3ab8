// GSSAPITests: loading of the library, its errors, and the flags of a context. `AuthenticationTests` has contexts with a ticket.

import LupineAuthentication
import Synchronization
import Testing

@testable import LupineGSSAPI

/// The flags with which the context was requested. A global, because a C function can't capture a variable.
private let requestedFlags = Atomic<UInt32>(0)

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

  @Test("the security context requires the server to prove its identity, and never forwards the user's Kerberos ticket")
  func flags() throws {
    guard var library = try? GSSAPILibrary.loaded() else { return }
    library.initContext = { _, _, _, _, _, flags, _, _, _, _, _, _, _ in
      requestedFlags.store(flags, ordering: .relaxed)
      return 0
    }
    let context = try GSSAPIContext(host: "h.invalid", binding: nil, library: library)
    _ = try context.step(nil)
    // GSS_C_MUTUAL_FLAG is 2. GSS_C_DELEG_FLAG is 1, and GSS_C_DELEG_POLICY_FLAG is 32,768.
    #expect(requestedFlags.load(ordering: .relaxed) == 2)
  }
}
