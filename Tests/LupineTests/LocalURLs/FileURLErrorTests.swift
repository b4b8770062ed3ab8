// file: URLs that fail: missing or unreadable files, special files, other hosts, and requests that would write.

import Foundation
import Glibc
import LupineEngine
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct FileURLErrorTests {
  private func error(of url: String, _ method: String = "GET") -> URLError? {
    guard let url = URL(string: url) else { return nil }
    var request = URLRequest(url: url)
    request.httpMethod = method
    do throws(URLError) {
      _ = try LocalContent(of: request)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "if a file URL can't be read, the error contains the cause, the URL and a remedy",
    arguments: [
      ("file:///nonexistent/lupine", .fileDoesNotExist, "doesn't exist"),
      ("file:///etc/passwd/below", .fileDoesNotExist, "doesn't exist"),
      ("file:///tmp", .fileIsDirectory, "is a directory"), ("file:///", .fileIsDirectory, "is a directory"),
      ("file:///dev/zero", .cannotOpenFile, "isn't a regular file"),
      ("file:///\(String(repeating: "x", count: 300))", .cannotOpenFile, "can't be opened"),
      ("file://server.example/etc/passwd", .unsupportedURL, "another host"),
      ("file://127.0.0.1/etc/passwd", .unsupportedURL, "another host"),
      ("file://localhost.example/etc/passwd", .unsupportedURL, "another host"),
      ("file://localhost:80/etc/passwd", .unsupportedURL, "another host"),
      ("file://user@localhost/etc/passwd", .unsupportedURL, "another host"),
      ("file:relative", .badURL, "absolute path"), ("file:", .badURL, "absolute path"),
      ("file://localhost", .badURL, "absolute path"), ("file:///a%00b", .badURL, "absolute path"),
      ("file:///a%FF", .badURL, "absolute path"),
    ] as [(String, URLError.Code, String)])
  func refused(url: String, code: URLError.Code, text: String) async throws {
    try await withSession { session in
      for error in [
        await session.request(url).outcome().error, await session.download(url).outcome().error,
        await session.streamRequest(url).outcome().completion.error,
      ] {
        let error = try #require(error?.underlyingError as? URLError)
        #expect(error.code == code)
        #expect(error.localizedDescription.contains(text) && error.localizedDescription.contains(url))
        #expect(error.localizedDescription.hasSuffix("."))
        #expect(error.failingURL?.absoluteString == url)
      }
    }
  }

  @Test("a request for the file URL of a FIFO, a link to a device or a dangling link fails immediately")
  func special() throws {
    try withFolder { folder in
      let fifo = folder.appending(path: "fifo")
      try #require(mkfifo(fifo.path, 0o600) == 0)
      #expect(error(of: fifo.absoluteString)?.code == .cannotOpenFile)
      let link = folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: URL(filePath: "/dev/zero"))
      #expect(error(of: link.absoluteString)?.code == .cannotOpenFile)
      let dangling = folder.appending(path: "dangling")
      try FileManager.default.createSymbolicLink(at: dangling, withDestinationURL: folder.appending(path: "none"))
      #expect(error(of: dangling.absoluteString)?.code == .fileDoesNotExist)
    }
  }

  @Test("a request for the file URL of a file without read permission fails with noPermissionsToReadFile")
  func unreadable() throws {
    try withFolder { folder in
      let file = folder.appending(path: "file")
      try Data("secret".utf8).write(to: file)
      try #require(chmod(file.path, 0) == 0)
      // Root can read every file, so this thread accesses files as the unprivileged user 65534. setfsuid affects only this thread.
      typealias SetUser = @convention(c) (uid_t) -> CInt
      let symbol = try #require(dlsym(nil, "setfsuid"))
      // SAFETY: the C library's setfsuid(2) has this signature.
      let setUser = unsafeBitCast(symbol, to: SetUser.self)
      let previous = setUser(65_534)
      defer { _ = setUser(uid_t(previous)) }
      let error = try #require(self.error(of: file.absoluteString))
      #expect(error.code == .noPermissionsToReadFile && error.localizedDescription.contains("permissions"))
      #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EACCES)
    }
  }

  @Test(
    "requests for a file URL fail with unsupportedURL, except GET and HEAD without a body",
    arguments: ["file", "data"])
  func methods(scheme: String) async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "file")
      try Data("old".utf8).write(to: file)
      let url = scheme == "file" ? file.absoluteString : "data:,x"
      try await withSession { session in
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
          let response = await session.request(url, method: HTTPMethod(rawValue: method)).outcome()
          let error = try #require(response.error?.underlyingError as? URLError)
          #expect(error.code == .unsupportedURL && error.localizedDescription.contains("supports only GET and HEAD"))
        }
        for request in [
          session.upload(Data("new".utf8), to: url, method: .put), session.upload(file, to: url, method: .get),
          session.upload(InputStream(data: Data("new".utf8)), to: url, method: .put),
        ] {
          #expect((await request.outcome().error?.underlyingError as? URLError)?.code == .unsupportedURL)
        }
      }
      #expect(try Data(contentsOf: file) == Data("old".utf8))
    }
  }

  @Test("the HTTP engine refuses requests for file URLs and data URLs", arguments: ["file:///etc/hostname", "data:,x"])
  func engine(url: String) {
    #expect(throws: URIError.self) { try URI(url) }
  }
}
