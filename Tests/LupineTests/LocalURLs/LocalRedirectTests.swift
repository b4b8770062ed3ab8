// Neither a server nor a redirect handler nor stored resume data can make a session read a local file.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct LocalRedirectTests {
  private static let locations = [
    "file:///etc/hostname", "file:/etc/hostname", "FILE://localhost/etc/hostname", "data:,x",
  ]

  @Test("a redirect to a file or data URL isn't followed, with or without a redirect handler", arguments: locations)
  func redirect(location: String) async throws {
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": location])
    } _: { origin in
      try await withSession { session in
        for request in [session.request(origin.url), session.request(origin.url).redirect(using: .follow)] {
          let response = await request.outcome()
          #expect((response.error?.underlyingError as? URLError)?.code == .badServerResponse && response.data == nil)
        }
        let download = await session.download(origin.url).outcome()
        #expect((download.error?.underlyingError as? URLError)?.code == .badServerResponse)
        #expect(download.fileURL == nil)
      }
    }
  }

  @Test(
    "a redirect handler can't choose a file URL or a data URL, whatever the target of the server's redirect",
    arguments: locations)
  func handler(location: String) async throws {
    for target in ["/there", "ftp://a.example/", "file:///etc/passwd"] {
      try await withServer { request in
        request.path == "/" ? Reply(status: 302, fields: ["Location": target]) : .text("there")
      } _: { origin in
        try await withSession { session in
          let chosen = Redirector(
            behavior: .modify { _, request, _ in
              var request = request
              request.url = URL(string: location)
              return request
            })
          let response = await session.request(origin.url).redirect(using: chosen).outcome()
          #expect((response.error?.underlyingError as? URLError)?.code == .unsupportedURL && response.data == nil)
          #expect(origin.requestCount == 1)
        }
      }
    }
  }

  @Test("resume data that contains a file or data URL is refused", arguments: ["file:///etc/hostname", "data:,x"])
  func resumeData(location: String) async throws {
    let stored = ResumeData(
      url: try #require(URL(string: location)), fields: [:], timeoutInterval: nil, handlesCookies: true,
      mainDocumentURL: nil, validator: .entityTag("\"v1\""), path: "/tmp/\(DownloadFileName.random())",
      receivedByteCount: 1, totalByteCount: 2)
    let data = try #require(stored.serialized)
    #expect(throws: URLError.self) { try ResumeData(data) }
    try await withSession { session in
      let response = await session.download(resumingWith: data).outcome()
      #expect((response.error?.underlyingError as? URLError)?.code == .unsupportedURL && response.fileURL == nil)
    }
  }
}
