// `ResumeData` in serialized form: it is read back unchanged, and malformed data is refused.

import Foundation
import LupineEngine
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite struct ResumeDataSerializationTests {
  private static let path = "/tmp/\(DownloadFileName.random())"

  private func resumeData(
    path: String = Self.path, fields: Fields = ["X-A": "1"],
    validator: ResumeData.Validator = .entityTag("\"v1\""), received: UInt64 = 50, total: UInt64? = 100
  ) throws -> ResumeData {
    ResumeData(
      url: try #require(URL(string: "https://h/large?x=1")), fields: fields, timeoutInterval: 7.5,
      handlesCookies: false, mainDocumentURL: URL(string: "https://h/"), validator: validator, path: path,
      receivedByteCount: received, totalByteCount: total)
  }

  private func isRefused(_ data: Data) -> Bool {
    do throws(URLError) {
      _ = try ResumeData(data)
      return false
    } catch {
      return error.code == .unsupportedURL && error.localizedDescription.hasSuffix("Download the file from the start.")
    }
  }

  @Test("deserialized resume data equals the original, including the order of the header fields")
  func roundTrip() throws {
    let fields = Fields((0..<50).map { ("X-\($0 * 7 % 50)", "ä\"\\\u{1F600} \($0)") })
    for validator in [.entityTag("\"\\\""), .lastModified("Wed, 21 Oct 2015 07:28:00 GMT")] as [ResumeData.Validator] {
      for total in [nil, 50, UInt64(Int64.max)] {
        let resumeData = try resumeData(fields: fields, validator: validator, total: total)
        let data = try #require(resumeData.serialized)
        #expect(try ResumeData(data) == resumeData)
      }
    }
  }

  @Test("a download never produces resume data that would be too long to deserialize")
  func tooLarge() throws {
    let fields: Fields = ["X": String(repeating: "x", count: 256 * 1024)]
    #expect(try resumeData(fields: fields).serialized == nil)
    let url = try #require(URL(string: "https://h/"))
    var request = URLRequest(url: url)
    request.fields = fields
    let response = HTTPURLResponse(
      url: url, statusCode: 200, httpVersion: nil,
      headerFields: ["ETag": "\"1\"", "Accept-Ranges": "bytes"])
    let file = URL(filePath: Self.path)
    #expect(ResumeData.make(request: request, response: response, file: file, receivedByteCount: 5) == nil)
    request.fields = [:]
    #expect(ResumeData.make(request: request, response: response, file: file, receivedByteCount: 5) != nil)
  }

  @Test("deserialization refuses resume data whose path isn't that of a download's temporary file")
  func otherFiles() throws {
    let name = DownloadFileName.random()
    let paths = [
      "/etc/passwd", "", "/", name, "./\(name)", "/tmp/\(name)/x", "/tmp/\(name).", "/tmp/x\(name)",
      "/tmp/lupine-download-.tmp", "/tmp/lupine-download-\(String(repeating: "a", count: 31)).tmp",
      "/tmp/lupine-download-\(String(repeating: "A", count: 32)).tmp", "/tmp/\(name)/..", "/tmp/\(name)\0",
      "/etc/passwd\0/\(name)",
    ]
    for path in paths {
      let data = try #require(try resumeData(path: path).serialized)
      #expect(isRefused(data), "\(path)")
    }
    #expect(!isRefused(try #require(try resumeData(path: "/var/\(name)").serialized)))
  }

  @Test("deserialization refuses resume data with impossible byte counts or validators")
  func impossible() throws {
    let impossible = [
      try resumeData(received: 0), try resumeData(received: 101), try resumeData(received: 1 << 63, total: nil),
      try resumeData(total: 1 << 63), try resumeData(validator: .entityTag("W/\"1\"")),
      try resumeData(validator: .entityTag("\"1\"\r\nX: 1")), try resumeData(validator: .lastModified("soon")),
    ]
    for resumeData in impossible { #expect(isRefused(try #require(resumeData.serialized))) }
  }

  @Test("malformed resume data, and resume data of another version, are refused")
  func foreign() throws {
    let text = String(decoding: try #require(try resumeData().serialized), as: UTF8.self)
    #expect(!isRefused(Data(text.utf8)))
    #expect(isRefused(Data(text.replacing("\"version\":1", with: "\"version\":2").utf8)))
    #expect(isRefused(Data(text.replacing("[\"X-A\",\"1\"]", with: "[\"X-A\"]").utf8)))
    // Resume data must have exactly one of the two validators.
    #expect(isRefused(Data(text.replacing("\"entityTag\"", with: "\"other\"").utf8)))
    let date = "\"lastModified\":\"Wed, 21 Oct 2015 07:28:00 GMT\""
    #expect(isRefused(Data(text.replacing("\"version\":1", with: "\"version\":1,\(date)").utf8)))
    #expect(isRefused(Data(text.replacing("\"received\":50", with: "\"received\":-1").utf8)))
    #expect(isRefused(Data(text.replacing("\"received\":50", with: "\"received\":1e400").utf8)))
    let others = [
      "", "{}", "[]", "null", "1", "\"", "bplist00", "<?xml version=\"1.0\"?><plist/>",
      String(repeating: "[", count: 200_000), String(repeating: "{\"fields\":", count: 20_000),
      String(repeating: "9", count: 200_000), text + String(repeating: " ", count: 256 * 1024),
    ]
    for other in others { #expect(isRefused(Data(other.utf8)), "\(other.prefix(20))") }
    #expect(isRefused(Data([0xFF, 0xFE, 0x00])))
  }

  @Test("randomly changed resume data is refused, or still names a temporary file of a download")
  func damaged() throws {
    let original = try #require(try resumeData().serialized)
    var random = SplitMix64(seed: 1)
    for _ in 0..<2_000 {
      var data = original
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<data.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: data[index] = UInt8.random(in: 0...255, using: &random)
        case 1: data.remove(at: index)
        default: data = data.prefix(index) + data.suffix(Int.random(in: 1...data.count, using: &random))
        }
        if data.isEmpty { break }
      }
      guard let read = try? ResumeData(data) else { continue }
      // An #expect would print each of thousands of failures.
      let name = read.path.split(separator: "/").last ?? ""
      guard DownloadFileName.matches(name), read.receivedByteCount > 0 else {
        Issue.record("\(String(decoding: data, as: UTF8.self))")
        return
      }
    }
    for count in 0..<original.count {
      guard isRefused(original.prefix(count)) else {
        Issue.record("the first \(count) bytes are accepted as resume data")
        return
      }
    }
  }
}
