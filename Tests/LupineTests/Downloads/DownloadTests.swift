// Downloads from a test server: where the file is moved, what it holds, and how requests are built.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadTests {
  // MARK: Destinations

  @Test("a download's default destination is in the temporary folder, with Alamofire_ before the temporary file's name")
  func defaultDestination() async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Disposition": "attachment; filename=evil"], .pattern(byteCount: 300_000))
    } _: { origin in
      let monitor = DownloadMonitor()
      try await withSession(eventMonitors: [monitor]) { session in
        let response = await session.download(origin.url).outcome()
        let url = try #require(response.fileURL)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(response.error == nil && response.value == url && response.resumeData == nil)
        let temporary = try #require(monitor.temporaryURL)
        #expect(url.deletingLastPathComponent().path == temporary.deletingLastPathComponent().path)
        #expect(url.lastPathComponent == "Alamofire_" + temporary.lastPathComponent)
        #expect(temporary.deletingLastPathComponent().path == FileManager.default.temporaryDirectory.path)
        let isIntact = response.content == Pattern.data(300_000)
        #expect(isIntact)
        #expect(!FileManager.default.fileExists(atPath: temporary.path))
      }
    }
  }

  @Test("a download's destination closure receives the response and the URL of the complete temporary file")
  func destination() async throws {
    try await withServer { _ in
      Reply(status: 203, .pattern(byteCount: 1000))
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let seen = Mutex<(Int?, Int?)>((nil, nil))
          let response = await session.download(
            origin.url,
            to: { temporaryURL, response in
              seen.withLock { $0 = ((try? Data(contentsOf: temporaryURL))?.count, response.statusCode) }
              return (folder.appending(path: "a/b/file"), .createIntermediateDirectories)
            }
          ).outcome()
          let (byteCount, statusCode) = seen.withLock { $0 }
          #expect(byteCount == 1000 && statusCode == 203)
          #expect(response.fileURL == folder.appending(path: "a/b/file"))
          #expect(response.content == Pattern.data(1000))
        }
      }
    }
  }

  @Test(
    "a download replaces an existing file at the destination if removePreviousFile is set, and fails otherwise",
    arguments: [true, false])
  func previousFile(isReplaced: Bool) async throws {
    try await withServer { _ in
      .text("new")
    } _: { origin in
      let monitor = DownloadMonitor()
      try await withSession(eventMonitors: [monitor]) { session in
        try await withFolder { folder in
          let file = folder.appending(path: "file")
          try Data("old".utf8).write(to: file)
          let response = await session.download(
            origin.url, to: { _, _ in (file, isReplaced ? .removePreviousFile : []) }
          ).outcome()
          #expect(try String(contentsOf: file, encoding: .utf8) == (isReplaced ? "new" : "old"))
          #expect(names(in: folder) == ["file"])
          let temporary = try #require(monitor.temporaryURL)
          #expect(!FileManager.default.fileExists(atPath: temporary.path))
          #expect(response.fileURL == (isReplaced ? file : nil))
          guard !isReplaced else { return #expect(response.error == nil) }
          guard case .downloadedFileMoveFailed(let error, temporary, file) = response.error else {
            Issue.record("\(response)")
            return
          }
          #expect((error as? CocoaError)?.code == .fileWriteFileExists)
        }
      }
    }
  }

  @Test("moving a download fails if a folder is missing and createIntermediateDirectories isn't set")
  func missingFolder() async throws {
    try await withServer { _ in
      .text("new")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let response = await session.download(origin.url, to: { _, _ in (folder.appending(path: "a/file"), []) })
            .outcome()
          #expect(response.error?.isDownloadedFileMoveError == true && response.fileURL == nil)
          #expect((response.error?.underlyingError as? CocoaError)?.code == .fileNoSuchFile)
          #expect(names(in: folder).isEmpty)
        }
      }
    }
  }

  @Test("suggestedDownloadDestination returns the given folder with the file name that the server suggests")
  func suggestedDestination() throws {
    let folder = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
    let temporary = URL(filePath: "/tmp/x.tmp")
    let make = DownloadRequest.suggestedDownloadDestination(for: .cachesDirectory, options: [.removePreviousFile])
    for (field, name) in [("a.txt", "a.txt"), ("../../b", "b"), ("", "page")] {
      let fields = field.isEmpty ? [:] : ["Content-Disposition": "attachment; filename=\"\(field)\""]
      let response = try #require(
        HTTPURLResponse(
          url: try "http://h/x/page".asURL(), statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
      let (url, options) = make(temporary, response)
      #expect(url.deletingLastPathComponent().path == folder.path && url.lastPathComponent == name)
      #expect(options.contains(.removePreviousFile))
    }
    let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
    let response = try #require(
      HTTPURLResponse(url: try "http://h/f".asURL(), statusCode: 200, httpVersion: nil, headerFields: nil))
    let (url, options) = DownloadRequest.suggestedDownloadDestination()(temporary, response)
    #expect(url.deletingLastPathComponent().path == documents?.path)
    #expect(options.isSubset(of: .createIntermediateDirectories))
  }

  @Test("suggestedDownloadDestination creates its folder in an empty home, and adds no option once the folder exists")
  func emptyHome() async throws {
    try await withFolder { home in
      // The home that Foundation uses is that of a whole process; it ignores HOME.
      await #expect(processExitsWith: .success) { [path = home.path as String] in
        setenv("CFFIXED_USER_HOME", path, 1)
        let suggested = DownloadRequest.suggestedDownloadDestination()
        let options = Recorder<DownloadRequest.Options>()
        try await withServer { _ in
          .text("body")
        } _: { origin in
          try await withSession { session in
            for name in ["first", "second"] {
              let destination: DownloadRequest.Destination = { temporaryURL, response in
                let (url, chosen) = suggested(temporaryURL, response)
                options.record(chosen)
                return (url, chosen)
              }
              let response = await session.download("\(origin.url)/\(name)", to: destination).outcome()
              #expect(response.error == nil && response.fileURL?.path == "\(path)/Documents/\(name)")
            }
          }
        }
        #expect(await options.first(2) == [.createIntermediateDirectories, []])
      }
      #expect(names(in: home.appending(path: "Documents")).sorted() == ["first", "second"])
    }
  }

  @Test("the file manager of the SessionDelegate moves the downloaded file to its destination")
  func fileManager() async throws {
    final class Mover: FileManager, @unchecked Sendable {
      override func moveItem(at source: URL, to destination: URL) throws {
        try Data("moved".utf8).write(to: destination)
      }
    }
    try await withServer { _ in
      .text("body")
    } _: { origin in
      try await withFolder { folder in
        let session = Session(delegate: SessionDelegate(fileManager: Mover()))
        try Data("old".utf8).write(to: folder.appending(path: "file"))
        let response = await session.download(origin.url, to: into(folder)).outcome()
        #expect(response.error == nil && response.content == Data("moved".utf8))
        withExtendedLifetime(session) {}
      }
    }
  }

  // MARK: Content

  @Test("a download saves the body of a response with an error status to the file", arguments: [404, 503, 302, 401])
  func errorStatus(status: Int) async throws {
    try await withServer { _ in
      .text("what happened", status: status)
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let response = await session.download(origin.url, to: into(folder)).outcome()
          #expect(response.error == nil && response.response?.statusCode == status)
          #expect(response.content == Data("what happened".utf8))
          let refused = await session.download(origin.url, to: into(folder)).validate().outcome()
          #expect(refused.error?.responseCode == status && refused.content == Data("what happened".utf8))
        }
      }
    }
  }

  @Test("a download saves an empty body as an empty file, and decompresses a compressed body")
  func bodies() async throws {
    try await withServer { request in
      switch request.path {
      case "/gzip": Reply(.coded(Pattern.bytes(0..<100_000), .gzip))
      case "/chunks": Reply(.chunks([[1], [2, 3]], pause: .zero))
      case "/204": Reply(status: 204)
      default: Reply()
      }
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          for (path, body) in [
            "/": Data(), "/204": Data(), "/chunks": Data([1, 2, 3]), "/gzip": Pattern.data(100_000),
          ] {
            let request = session.download(origin.url + path, to: into(folder))
            let progress = request.downloadProgress
            let response = await request.outcome()
            let isIntact = response.error == nil && response.content == body
            #expect(isIntact, "\(path)")
            #expect(progress.completedUnitCount == Int64(body.count))
            guard !body.isEmpty else { continue }
            #expect(progress.totalUnitCount == Int64(body.count) && progress.fractionCompleted == 1)
          }
        }
      }
    }
  }

  @Test(
    "a download follows redirects, and saves an empty file for a redirect that isn't followed",
    arguments: [true, false])
  func redirects(isFollowed: Bool) async throws {
    try await withServer { request in
      request.path == "/end" ? .text("end") : Reply(status: 302, fields: ["Location": "/end"])
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let request = session.download(origin.url, to: into(folder))
          if !isFollowed { request.redirect(using: Redirector.doNotFollow) }
          let response = await request.outcome()
          #expect(response.error == nil && response.response?.statusCode == (isFollowed ? 200 : 302))
          #expect(response.content == Data((isFollowed ? "end" : "").utf8))
          #expect(request.performedRequests.last?.url?.path == (isFollowed ? "/end" : ""))
        }
      }
    }
  }

  // MARK: Requests

  @Test("a download can be created from a URL with parameters and a modifier, or from a URLRequest")
  func factories() async throws {
    try await withServer { request in
      .text("\(request.method) \(request.target) \(request.fields.first("x-a") ?? "-")")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let requests = [
            session.download(origin.url + "/", parameters: ["a": 1], headers: ["X-A": "1"], to: into(folder)),
            session.download(
              origin.url + "/", method: .delete, parameters: ["b": "2"],
              encoder: URLEncodedFormParameterEncoder.default,
              requestModifier: { $0.headers["X-A"] = "2" }, to: into(folder)),
            session.download(try URLRequest(url: origin.url + "/", method: .put), to: into(folder)),
          ]
          var texts: [String?] = []
          for request in requests { texts.append(await request.serializingString().response.value) }
          #expect(texts == ["GET /?a=1 1", "DELETE /?b=2 2", "PUT / -"])
          guard case .request = requests[0].downloadable else {
            Issue.record("the downloadable isn't a request")
            return
          }
        }
      }
    }
  }

  @Test("a download whose request can't be created or sent fails without creating a file")
  func unbuilt() async throws {
    try await withSession { session in
      let response = await session.download("").outcome()
      #expect(response.error?.isInvalidURLError == true && response.fileURL == nil && response.resumeData == nil)
      let refused = await session.download("http://127.0.0.1:1").responseURLOutcome()
      #expect((refused.error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
      #expect(refused.fileURL == nil && refused.resumeData == nil && refused.metrics != nil)
    }
  }

  @Test("a download answers a challenge with the request's credential, and writes only the final response to the file")
  func challenge() async throws {
    try await withServer { request in
      request.fields.first("authorization") == nil
        ? Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], .bytes(Array("refused".utf8)))
        : .text("welcome")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let response = await session.download(origin.url, to: into(folder)).authenticate(username: "u", password: "p")
            .outcome()
          #expect(response.error == nil && response.content == Data("welcome".utf8))
          let statuses = response.metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
          #expect(statuses == [401, 200])
        }
      }
    }
  }

  @Test("with eager request setup, a download's task is created before the download is resumed")
  func eager() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withFolder { folder in
        let session = Session(startRequestsImmediately: false, requestSetup: .eager)
        let request = session.download(origin.url, to: into(folder))
        let task = await firstValue { request.onURLSessionTaskCreation(on: .global(), perform: $0) }
        #expect(task is URLSessionDownloadTask && task.state == .suspended)
        request.resume()
        #expect(await request.serializingString().response.value == "here")
        withExtendedLifetime(session) {}
      }
    }
  }
}

extension DownloadRequest {
  func responseURLOutcome() async -> AFDownloadResponse<URL> {
    await firstValue { responseURL(queue: underlyingQueue, completionHandler: $0) }
  }
}
