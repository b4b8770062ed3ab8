// FuzzSavingTests: findings of `lupine fuzz` that are saved, reduced, sent again and reported in files.

import Foundation
@testable import LupineCommand
import LupineOrigin
import Testing

@Suite("lupine fuzz --save, --minimize, --replay and --corpus", .timeLimit(.minutes(10)))
struct FuzzSavingTests {
  private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"

  /// Returns a server that sends `bad` if the request contains `trigger`, and otherwise a correct response.
  private func server(_ trigger: String, _ bad: String) throws -> OriginServer {
    try OriginServer { peer in
      let text = String(decoding: try peer.receive(), as: UTF8.self)
      try peer.send(text.contains(trigger) ? bad : Self.good)
      peer.finishSending()
      _ = try peer.awaitClose()
    }
  }

  private func names(_ folder: Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("a saved finding has the request, the response, and a command without secrets that sends the request again")
  func saved() async throws {
    let folder = try Folder()
    let server = try server("No-Colon", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    defer { server.stop() }
    let arguments = [
      "fuzz", "--seed", "5", "--count", "200", "--rate", "400", "--save", "\(folder.path)/new", "-H",
      "Authorization: Bearer s3cret", "\(server.url)/?key=s3cret",
    ]
    let run = try await lupine(arguments)
    #expect(run.status == 100, "\(run.output) \(run.errors)")
    let output = run.output
    #expect(!output.contains("s3cret"), "\(output)")
    let again = try #require(output.split(separator: "\n").first { $0.hasPrefix("  again: lupine fuzz --replay ") })
    let path = try #require(again.split(separator: " ").first { $0.hasSuffix(".json") })
    let stem = path.dropFirst(folder.path.count + 1).dropLast(".json".count)
    #expect(try folder.read("\(stem).response") == "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    // The server needs only the field without a colon.
    #expect(try folder.read("\(stem).request") == "No-Colon")
    let mode = try FileManager.default.attributesOfItem(atPath: String(path))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let replayed = try await shell("$lupine \(again.dropFirst("  again: lupine ".count))")
    #expect(replayed.status == 100 && replayed.output.hasPrefix("invalid response: "), "\(replayed.output)")

    // The same run saves the same findings under further names.
    let before = try names(folder)
    #expect(before == ["new"])
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/new").count
    #expect(try await lupine(arguments + ["--minimize", "0"]).status == 100)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/new").count == 2 * files)
  }

  @Test("--replay exits with 0 once the server is correct, and replays any file with a request")
  func repaired() async throws {
    let folder = try Folder()
    let path = try folder.write("raw", "GET /?No-Colon HTTP/1.1\r\nHost: a\r\n\r\n")
    let faulty = try server("No-Colon", "nonsense")
    let correct = try server("\u{1}", "")
    defer { for server in [faulty, correct] { server.stop() } }
    let first = try await lupine(["fuzz", "--replay", path, "--json", "-", faulty.url])
    #expect(first.status == 100 && first.output.contains("\"fault\":\"invalid response\""), "\(first.output)")
    let second = try await lupine(["fuzz", "--replay", path, correct.url])
    #expect(second.status == 0 && second.output.hasPrefix("answered with 200\n"), "\(second.output)")
    let missing = try await lupine(["fuzz", "--replay", "\(folder.path)/none", correct.url])
    #expect(missing.status == 26 && missing.hasOneErrorLine)
    let broken = try await lupine(["fuzz", "--replay", try folder.write("x.json", "{}"), correct.url])
    #expect(broken.status == 26 && broken.errors.contains("isn't a finding"), "\(broken.errors)")
  }

  @Test("the command of a saved desync finding repeats its probe with all of its parts")
  func savedProbe() async throws {
    let folder = try Folder()
    let chain = try SimulatedChain.server(front: .chunked, back: .length)
    let correct = try SimulatedChain.server(front: .strict, back: .strict)
    defer { for server in [chain, correct] { server.stop() } }
    let run = try await lupine([
      "fuzz", "--desync", "--seed", "2", "--rate", "400", "--timeout", "1", "--save", folder.path, chain.url,
    ])
    #expect(run.status == 100, "\(run.output) \(run.errors)")
    let again = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("  again: lupine ") })
    let replayed = try await shell("$lupine \(again.dropFirst("  again: lupine ".count))")
    #expect(replayed.status == 100 && replayed.output.hasPrefix("desync: "), "\(replayed.output) \(replayed.errors)")
    let path = try #require(again.split(separator: " ").first { $0.hasSuffix(".json") })
    let repaired = try await lupine(["fuzz", "--replay", String(path), "--timeout", "1", correct.url])
    #expect(repaired.status == 0, "\(repaired.output)")
  }

  @Test("the fuzzer sends at most the number of requests of --minimize to reduce a finding")
  func boundedMinimizing() async throws {
    let server = try server("X: it's", "nonsense")
    defer { server.stop() }
    let folder = try Folder()
    let path = folder.path
    _ = try folder.write("one", "GET / HTTP/1.1\r\nHost: a\r\nX: it's\r\nAccept: */*\r\n\r\n")
    let arguments = ["fuzz", "--count", "1", "--rate", "400", "--corpus", path, server.url]
    let plain = try await lupine(arguments)
    #expect(plain.status == 100 && !plain.output.contains("minimized"), "\(plain.output)")
    // The first request, the finding, and the check that the server still answers.
    #expect(server.connectionCount == 3)
    let reduced = try await lupine(arguments + ["--minimize", "10"])
    #expect(reduced.output.contains("  minimized: 49 to "), "\(reduced.output)")
    #expect(server.connectionCount == 3 + 3 + 10)
  }

  @Test("the fuzzer sends the requests of --corpus unchanged, and then mutates them")
  func corpus() async throws {
    let folder = try Folder()
    _ = try folder.write("b", "PUT /second HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
    _ = try folder.write("a", "no request at all")
    let arguments = ["fuzz", "--seed", "3", "--corpus", folder.path, "http://localhost", "--print", "--only"]
    #expect(try await lupine(arguments + ["1"]).output == "no request at all")
    #expect(try await lupine(arguments + ["2"]).output.hasSuffix("Content-Length: 2\r\n\r\nhi"))
    let mutated = try await lupine(arguments + ["3"])
    #expect(mutated.status == 0 && !mutated.output.isEmpty)
    let empty = try await lupine(["fuzz", "--corpus", "\(folder.path)/none", "http://localhost"])
    #expect(empty.status == 26 && empty.hasOneErrorLine)
  }

  @Test("--json writes a line for each finding and one for the run, and --junit a failed test case for each finding")
  func reports() async throws {
    let folder = try Folder()
    let server = try server("No-Colon", "<nonsense> & \u{1B}")
    defer { server.stop() }
    let junit = "\(folder.path)/junit.xml"
    let run = try await lupine([
      "fuzz", "--seed", "5", "--count", "200", "--rate", "400", "--json", "-", "--junit", junit, server.url,
    ])
    #expect(run.status == 100, "\(run.output) \(run.errors)")
    let lines = run.output.split(separator: "\n")
    let findings = lines.compactMap { FuzzFinding(json: Array($0.utf8)) }
    #expect(findings.count == lines.count - 1 && !findings.isEmpty)
    #expect(
      findings.allSatisfy { $0.fault == "invalid response" && $0.command.hasPrefix("lupine fuzz --seed 5 --only ") })
    let summary = try #require(lines.last)
    #expect(summary.contains("\"type\":\"summary\"") && summary.contains("\"faults\":\(findings.count),"), "\(summary)")
    let text = try folder.read("junit.xml")
    let document = try XMLCheck.elements(of: text)
    #expect(document.count { $0 == "failure" } == findings.count && document.first == "testsuite", "\(text)")
    #expect(!text.contains("\u{1B}"))
  }
}

/// Checks that a text is XML.
private enum XMLCheck {
  struct Unbalanced: Error {}

  /// Returns the names of the elements in the order of their starts. Throws an error if a tag isn't closed, or if an escape is unknown.
  static func elements(of text: String) throws -> [String] {
    var (names, open): ([String], [String]) = ([], [])
    for piece in text.split(separator: "<") where !piece.hasPrefix("?") {
      guard let end = piece.firstIndex(of: ">"), !piece[piece.index(after: end)...].contains(">") else {
        throw Unbalanced()
      }
      let tag = piece[..<end]
      if tag.hasPrefix("/") {
        guard open.popLast() == String(tag.dropFirst()) else { throw Unbalanced() }
        continue
      }
      guard let name = tag.split(separator: " ").first.map({ String($0) }) else { throw Unbalanced() }
      names.append(name)
      if !tag.hasSuffix("/") { open.append(name) }
    }
    for escape in text.split(separator: "&").dropFirst() {
      guard ["amp;", "lt;", "gt;", "quot;"].contains(where: { escape.hasPrefix($0) }) else { throw Unbalanced() }
    }
    guard open.isEmpty else { throw Unbalanced() }
    return names
  }
}
