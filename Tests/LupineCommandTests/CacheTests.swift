// CacheTests: --cache and --max-stale, over several runs of the command.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import Synchronization
import Testing

@Suite("The command's options --cache and --max-stale", .timeLimit(.minutes(10)))
struct CacheTests {
  /// Runs `body` with a test server and a new cache folder. `reply` gets each request and the number of earlier requests.
  private func withOrigin(
    _ reply: @escaping @Sendable (ReceivedRequest, Int) -> Reply,
    _ body: (OriginServer, _ folder: String) async throws -> Void
  ) async throws {
    let count = Atomic(0)
    let origin = try OriginServer.serving { request in reply(request, count.add(1, ordering: .relaxed).oldValue) }
    defer { origin.stop() }
    let folder = try Folder()
    try await body(origin, folder.path + "/cache")
  }

  /// The names of the files with stored responses in the cache folder.
  private func records(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lupine") }
  }

  private func cacheLines(_ run: Run) -> [String] {
    run.errors.split(separator: "\n").filter { $0.hasPrefix("* cache: ") }.map { String($0.dropFirst(9)) }
  }

  @Test("the command stores a fresh response in the cache folder, and the next run serves it without a connection")
  func hit() async throws {
    try await withOrigin { _, number in
      Reply(fields: ["Cache-Control": "max-age=600"], .bytes(Array("\(number)".utf8)))
    } _: { origin, folder async throws in
      let first = try await lupine(["-v", "--cache", folder, origin.url])
      #expect(first.status == 0 && first.output == "0")
      #expect(cacheLines(first) == ["miss: nothing is stored for the URL", "stored"])
      let second = try await lupine(["-v", "--cache", folder, "-i", origin.url])
      #expect(second.output.hasPrefix("HTTP/1.1 200 \r\n") && second.output.hasSuffix("\r\n\r\n0"))
      #expect(second.output.contains("Age: ") && second.errors.contains("* no connection was opened\n"))
      #expect(cacheLines(second) == ["hit: the stored response is fresh"])
      let post = try await lupine(["--cache", folder, "-d", "x", origin.url])
      #expect(post.output == "1")
      #expect(try await lupine(["--cache", folder, origin.url]).output == "2")
      #expect(origin.requestCount == 3)
    }
  }

  @Test("the command revalidates a stale stored response, or serves it if --max-stale allows its staleness")
  func stale() async throws {
    let date = "Thu, 01 Jan 2026 00:00:00 GMT"
    try await withOrigin { request, number in
      let fields: Fields = ["Cache-Control": "max-age=0", "ETag": "\"1\"", "Date": date]
      return request.fields.first("If-None-Match") == "\"1\""
        ? Reply(status: 304, fields: fields) : Reply(fields: fields, .bytes(Array("\(number)".utf8)))
    } _: { origin, folder async throws in
      #expect(try await lupine(["--cache", folder, origin.url]).output == "0")
      let validated = try await lupine(["-v", "--cache", folder, origin.url])
      #expect(validated.output == "0" && origin.requestCount == 2)
      #expect(
        cacheLines(validated) == [
          "revalidated: the stored response is stale, and the server has confirmed the stored response"
        ])
      #expect(validated.errors.contains("> If-None-Match: \"1\"\n"))
      let served = try await lupine(["-v", "--cache", folder, "--max-stale", "1000000000", origin.url])
      #expect(served.output == "0" && origin.requestCount == 2)
      #expect(cacheLines(served) == ["hit: stale, as --max-stale or Cache-Control allows"])
      #expect(try await lupine(["--cache", folder, "--max-stale", "1", origin.url]).output == "0")
      #expect(origin.requestCount == 3)
    }
  }

  @Test(
    "with stale-if-error, the command uses a stale response if the server is unreachable, but not after a TLS error")
  func outage() async throws {
    let (authority, other) = (try ThrowawayAuthority(), try ThrowawayAuthority())
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let origin = try OriginServer.serving(tls: try ServerIdentity(identity, authorityPEM: authority.certificatePEM)) {
      _ in
      Reply(fields: ["Cache-Control": "max-age=0, stale-if-error=1000"], .bytes(Array("stored".utf8)))
    }
    defer { origin.stop() }
    let folder = try Folder()
    // An option for the trust roots would bypass the cache, so OpenSSL's environment variable names the system's.
    func load(trusting authority: ThrowawayAuthority) async throws -> Run {
      let roots = try folder.write("roots", String(decoding: authority.certificatePEM, as: UTF8.self))
      return try await shell("SSL_CERT_FILE=\(roots) $lupine -v --cache \(folder.path)/cache \(origin.url)")
    }
    let first = try await load(trusting: authority)
    #expect(first.output == "stored" && cacheLines(first).last == "stored", "\(first.errors)")
    let untrusted = try await load(trusting: other)
    #expect(untrusted.status == 60 && untrusted.output.isEmpty && origin.requestCount == 1)
    origin.stop()
    let unreachable = try await load(trusting: other)
    #expect(unreachable.status == 0 && unreachable.output == "stored")
    #expect(cacheLines(unreachable).last == "hit: stale, served because the server failed (stale-if-error)")
  }

  @Test("the command's cache folder stores no response with no-store, or to a request with credentials")
  func notStored() async throws {
    try await withOrigin { request, _ in
      Reply(fields: ["Cache-Control": request.path == "/private" ? "no-store" : "max-age=600"], .bytes([0x61]))
    } _: { origin, folder async throws in
      let secret = try await lupine(["-v", "--cache", folder, "-H", "Authorization: Bearer x", origin.url])
      #expect(cacheLines(secret).last == "not stored: the response is for this request's credentials or cookies")
      let refused = try await lupine(["-v", "--cache", folder, origin.url + "/private"])
      #expect(cacheLines(refused).last == "not stored: no-store")
      #expect(try records(folder).isEmpty)
    }
  }

  /// Returns a server's reply to a request for a resource of ten bytes, which supports ranges and If-Range.
  private static func part(of text: String, tag: String, to request: ReceivedRequest) -> Reply {
    var fields: Fields = ["Cache-Control": "max-age=600", "ETag": tag]
    let isCurrent = request.fields.first("If-Range").map { $0 == tag } ?? true
    guard isCurrent, let range = request.fields.first("Range")?.dropFirst("bytes=".count) else {
      return Reply(fields: fields, .bytes(Array(text.utf8)))
    }
    let ends = range.split(separator: "-").compactMap { Int($0) }
    let bytes = Array(text.utf8)[ends[0]...(ends.count > 1 ? ends[1] : text.utf8.count - 1)]
    fields.append(name: "Content-Range", value: "bytes \(bytes.startIndex)-\(bytes.endIndex - 1)/\(text.utf8.count)")
    return Reply(status: 206, fields: fields, .bytes(Array(bytes)))
  }

  @Test(
    "the command stores parts in the cache folder, serves ranges of them, and requests only what is missing of the whole"
  )
  func parts() async throws {
    let ranges = Mutex<[String]>([])
    try await withOrigin { request, _ in
      ranges.withLock { $0.append(request.fields.first("Range") ?? "-") }
      return Self.part(of: "0123456789", tag: "\"1\"", to: request)
    } _: { origin, folder async throws in
      func run(_ range: String?) async throws -> Run {
        let field = range.map { ["-H", "Range: bytes=\($0)"] } ?? []
        return try await lupine(["-v", "--cache", folder] + field + [origin.url])
      }
      #expect(try await run("2-4").output == "234")
      let first = try await run("0-3")
      #expect(first.output == "0123" && cacheLines(first).last == "stored")
      // Both parts are one file, so that a range may extend over both.
      let hit = try await run("1-4")
      #expect(hit.output == "1234" && cacheLines(hit) == ["hit: the stored response is fresh"])
      #expect(try records(folder).count == 1)
      let completed = try await run(nil)
      #expect(completed.status == 0 && completed.output == "0123456789")
      #expect(
        cacheLines(completed) == ["completed: the beginning is stored, and the server has sent the rest", "stored"])
      #expect(completed.errors.contains("> If-Range: \"1\"\n"))
      #expect(try await run(nil).output == "0123456789")
      #expect(ranges.withLock { $0 } == ["bytes=2-4", "bytes=0-3", "bytes=5-"])
      #expect(try records(folder).count == 1)
    }
  }

  @Test("if the rest of a stored part is of another version or has a wrong length, the command never writes a mixture")
  func wrongRest() async throws {
    let rest = Mutex<Reply?>(nil)
    try await withOrigin { request, _ in
      if request.fields.contains("If-Range"), let rest = rest.withLock({ $0 }) { return rest }
      return Self.part(of: "abcdefghij", tag: "\"2\"", to: request)
    } _: { origin, folder async throws in
      let fields: Fields = ["Cache-Control": "max-age=600", "Content-Range": "bytes 7-9/10"]
      func reply(_ text: String, tag: String) -> Reply {
        var fields = fields
        fields.append(name: "ETag", value: tag)
        return Reply(status: 206, fields: fields, .chunks([Array(text.utf8)], pause: .zero))
      }
      for (path, wrong) in [("/short", "hi"), ("/long", "hij!")] {
        let url = origin.url + path
        #expect(try await lupine(["--cache", folder, "-H", "Range: bytes=0-6", url]).output == "abcdefg")
        rest.withLock { $0 = reply(wrong, tag: "\"2\"") }
        let run = try await lupine(["--cache", folder, url])
        #expect(run.status != 0 && "abcdefghij".hasPrefix(run.output))
        // The stored part has been removed, so the next request gets the whole.
        #expect(try await lupine(["--cache", folder, url]).output == "abcdefghij")
      }
      #expect(try await lupine(["--cache", folder, "-H", "Range: bytes=0-6", origin.url]).output == "abcdefg")
      rest.withLock { $0 = reply("xyz", tag: "\"3\"") }
      #expect(try await lupine(["--cache", folder, origin.url]).output == "abcdefghij")
    }
  }

  @Test("if a part has a wrong length, the command doesn't store it, and keeps the parts of its version")
  func wrongPart() async throws {
    try await withOrigin { request, _ in
      guard request.fields.first("Range") == "bytes=0-6" else {
        return Self.part(of: "0123456789", tag: "\"1\"", to: request)
      }
      let fields: Fields = ["Cache-Control": "max-age=600", "ETag": "\"1\"", "Content-Range": "bytes 0-6/10"]
      return Reply(status: 206, fields: fields, .chunks([Array("01234".utf8)], pause: .zero))
    } _: { origin, folder async throws in
      func run(_ range: String) async throws -> Run {
        try await lupine(["-v", "--cache", folder, "-H", "Range: bytes=\(range)", origin.url])
      }
      #expect(try await run("2-4").output == "234")
      #expect(!cacheLines(try await run("0-6")).contains("stored"))
      #expect(cacheLines(try await run("2-4")) == ["hit: the stored response is fresh"])
      #expect(try await run("0-6").status == 0 && origin.requestCount == 3)
    }
  }

  @Test(
    "the command stops reading a stored body, complete or not, when its output can't be written",
    arguments: [false, true])
  func unwritableOutput(isPart: Bool) async throws {
    let byteCount = 1_200_000
    try await withOrigin { request, _ in
      Self.part(of: String(repeating: "a", count: byteCount), tag: "\"1\"", to: request)
    } _: { origin, folder async throws in
      let range = isPart ? ["-H", "Range: bytes=0-\(byteCount - 2)"] : []
      #expect(try await lupine(["--cache", folder] + range + [origin.url]).status == 0)
      try damage(folder)
      let run = try await lupine(["--cache", folder, "-o", "/dev/full", origin.url])
      #expect(run.status == 23 && run.errors.contains("No space left"), "\(run.errors)")
      // The damage at the end of the body hasn't been noticed.
      #expect(try records(folder).count == 1)
    }
  }

  @Test("if the output can't be written, the command also cancels a request that it has sent again without conditions")
  func unwritableSecondResponse() async throws {
    let sentCount = Atomic(0)
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        let isStored = sentCount.load(ordering: .relaxed) > 0
        let fields: Fields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
        if request.fields.contains("If-None-Match") {
          // This entity tag isn't that of the stored response, so the request is sent again.
          try peer.send(Reply(status: 304, fields: ["ETag": "\"2\""]), to: request)
        } else {
          try peer.send(Reply(fields: fields, .pattern(byteCount: isStored ? 50_000_000 : 10)), to: request)
        }
        sentCount.add(1, ordering: .relaxed)
      }
    }
    defer { origin.stop() }
    let folder = try Folder()
    #expect(try await lupine(["--cache", folder.path + "/cache", origin.url]).status == 0)
    let run = try await lupine(["--cache", folder.path + "/cache", "-o", "/dev/full", origin.url])
    #expect(run.status == 23 && run.errors.contains("No space left"), "\(run.errors)")
    origin.stop()
    // The long body wasn't sent to its end.
    #expect(origin.requestCount == 3 && sentCount.load(ordering: .relaxed) == 2)
  }

  @Test(
    "a request with an option for another server or for trust neither reads nor writes the cache folder")
  func ownServer() async throws {
    try await withOrigin { _, number in
      Reply(fields: ["Cache-Control": "max-age=600"], .bytes(Array("\(number)".utf8)))
    } _: { origin, folder async throws in
      var number = 0
      let options = [
        ["-H", "Host: h.example"], ["--resolve", "h.example:80:127.0.0.1"], ["-k"], ["-x", ""],
        ["--noproxy", "h.example"], ["--tlsv1.3"], ["--interface", "127.0.0.1"],
      ]
      for own in options {
        let run = try await lupine(["-v", "--cache", folder] + own + [origin.url])
        #expect(run.output == "\(number)" && cacheLines(run).count == 1)
        #expect(cacheLines(run).first?.hasPrefix("not used: ") == true && run.errors.contains("> GET "))
        number += 1
      }
      #expect(try records(folder).isEmpty)
      #expect(try await lupine(["--cache", folder, origin.url]).output == "\(number)")
      #expect(try await lupine(["--cache", folder, origin.url]).output == "\(number)")
      let other = try await lupine(["--cache", folder, "-H", "Host: h.example", origin.url])
      #expect(other.output == "\(number + 1)")
    }
  }

  @Test(
    "the cache folder contains decoded bodies without their content coding, so the command doesn't use the cache with --raw"
  )
  func coded() async throws {
    let text = String(repeating: "lupine ", count: 20_000)
    try await withOrigin { request, _ in
      let isCoded = request.fields.contains("Accept-Encoding")
      let fields: Fields = ["Cache-Control": "max-age=600"]
      return Reply(fields: fields, isCoded ? .coded(Array(text.utf8), .gzip) : .bytes(Array("plain".utf8)))
    } _: { origin, folder async throws in
      for _ in 0..<2 { #expect(try await lupine(["--cache", folder, origin.url]).output == text) }
      #expect(try await lupine(["--raw", "--cache", folder, origin.url]).output == "plain")
      #expect(origin.requestCount == 2)
    }
  }

  /// Changes the last byte of the body in the cache folder's only record.
  private func damage(_ folder: String) throws {
    let name = try #require(records(folder).first)
    let path = "\(folder)/\(name)"
    var bytes = try #require(FileManager.default.contents(atPath: path))
    // The last block is followed by its checksum of 8 bytes.
    bytes[bytes.count - 9] ^= 1
    try bytes.write(to: URL(filePath: path))
  }

  @Test(
    "the command deletes a damaged cache file. It requests a short response again at once, and a long one in the next run",
    arguments: [10, 1_100_000])
  func damaged(byteCount: Int) async throws {
    try await withOrigin { _, number in
      let body = [UInt8](repeating: UInt8(0x61 + number), count: byteCount)
      return Reply(fields: ["Cache-Control": "max-age=600"], .bytes(body))
    } _: { origin, folder async throws in
      let bodies = ["a", "b"].map { String(repeating: $0, count: byteCount) }
      #expect(try await lupine(["--cache", folder, origin.url]).output == bodies[0])
      try damage(folder)
      let second = try await lupine(["-v", "--cache", folder, origin.url])
      if byteCount == 10 {
        #expect(second.status == 0 && second.output == bodies[1])
        let lines = cacheLines(second)
        #expect(lines.first == "dropped: the stored response's file is damaged or missing" && lines.last == "stored")
      } else {
        #expect(second.status != 0 && bodies[0].hasPrefix(second.output) && second.output != bodies[0])
        #expect(try records(folder).isEmpty)
      }
      #expect(try await lupine(["--cache", folder, origin.url]).output == bodies[1])
      #expect(origin.requestCount == 2)
    }
  }

  @Test("a newer response with no-store removes the stored response from the command's cache folder")
  func newerNoStore() async throws {
    try await withOrigin { _, number in
      let fields: Fields = ["Cache-Control": number == 0 ? "max-age=0" : "no-store"]
      return Reply(fields: fields, .bytes(Array("\(number)".utf8)))
    } _: { origin, folder async throws in
      #expect(try await lupine(["--cache", folder, origin.url]).output == "0")
      #expect(try records(folder).count == 1)
      #expect(try await lupine(["--cache", folder, origin.url]).output == "1")
      #expect(try records(folder).isEmpty)
    }
  }

  @Test(
    "a newer response to a request with credentials or cookies removes the stored response from the command's folder")
  func newerPersonalResponse() async throws {
    try await withOrigin { request, number in
      let fields: Fields = ["Cache-Control": request.path == "/private" ? "max-age=600" : "max-age=600, no-store"]
      return Reply(fields: number % 2 == 0 ? ["Cache-Control": "max-age=600"] : fields, .bytes(Array("\(number)".utf8)))
    } _: { origin, folder async throws in
      for (path, number) in [("/private", 0), ("/", 2)] {
        let url = origin.url + path
        #expect(try await lupine(["--cache", folder, url]).output == "\(number)")
        let personal = ["-H", "Cookie: a=b", "-H", "Cache-Control: no-cache"]
        #expect(try await lupine(["--cache", folder] + personal + [url]).output == "\(number + 1)")
        #expect(try records(folder).isEmpty)
      }
    }
  }

  @Test("with only-if-cached, an uncached URL gets a 504 without a request, and an unusable cache folder is an error")
  func unavailable() async throws {
    try await withOrigin { _, _ in
      .text("x")
    } _: { origin, folder async throws in
      let run = try await lupine(["-v", "--cache", folder, "-f", "-H", "Cache-Control: only-if-cached", origin.url])
      #expect(run.status == 22 && origin.requestCount == 0)
      let unusable = try await lupine(["--cache", "/dev/null/x", origin.url])
      #expect(
        unusable.status == 1 && unusable.hasOneErrorLine && unusable.errors.contains("Check the path of --cache."))
      #expect(try await lupine(["--max-stale", "5", origin.url]).status == 2)
      #expect(try await lupine(["--cache", folder, "--max-stale", "x", origin.url]).status == 2)
    }
  }
}
