// AddressPolicyTests: the addresses that a session's policy refuses: the error, redirects, redirect handlers and retries.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite("A session's address policy", .timeLimit(.minutes(10)))
struct AddressPolicyTests {
  @Test("a request to an address that the address policy refuses fails with resourceUnavailable, without a connection")
  func error() async throws {
    try await withServer { _ in
      .text("")
    } _: { server in
      try await withSession {
        $0.engine.addressPolicy = .publicOnly
      } _: { session in
        let response = await session.request(server.url).outcome()
        let error = try expectTransferError(
          response.error, .resourceUnavailable, .addressRefused, "refuses 127.0.0.1", "AddressPolicy.allowed")
        #expect(error.progress == .nothingSent)
        #expect(server.connectionCount == 0)
      }
    }
  }

  @Test("a redirect to an address that the policy refuses fails without a retry, even if a redirect handler chose it")
  func redirects() async throws {
    try await withServer { _ in
      .text("internal")
    } _: { target in
      let location = target.url
      try await withServer(address: "127.0.0.2") { request in
        request.path == "/away" ? redirect(to: location) : redirect(to: "/there", status: 302)
      } _: { first in
        try await withSession {
          $0.engine.addressPolicy = .only(["127.0.0.2"])
        } _: { session in
          let redirected = session.request("\(first.url)/away", interceptor: .retryPolicy)
          try expectTransferError(await redirected.outcome().error, .resourceUnavailable, .addressRefused)
          #expect(redirected.retryCount == 0)
          let chosen = session.request("\(first.url)/").redirect(
            using: .modify { _, request, _ in
              var request = request
              request.url = URL(string: location)
              return request
            })
          try expectTransferError(await chosen.outcome().error, .resourceUnavailable, .addressRefused)
          #expect(first.requestCount == 2 && target.connectionCount == 0)
        }
      }
    }
  }
}
