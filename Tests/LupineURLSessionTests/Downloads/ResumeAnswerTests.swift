// `ResumeAnswer`: how to treat each response to the request that resumes a download (RFC 9110 §13.1.5, §14).

import Foundation
import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct ResumeAnswerTests {
  private static let lastModified = "Wed, 21 Oct 2015 07:28:00 GMT"

  private func answer(
    _ status: Int, _ fields: [(String, String)] = [], isContentDecoded: Bool = false, total: UInt64? = 100,
    validator: ResumeData.Validator = .entityTag("\"v1\"")
  ) throws -> ResumeAnswer {
    let url = try #require(URL(string: "https://h/large"))
    let resumeData = ResumeData(
      url: url, fields: [:], timeoutInterval: nil, handlesCookies: true, mainDocumentURL: nil, validator: validator,
      path: "/tmp/\(DownloadFileName.random())", receivedByteCount: 50, totalByteCount: total)
    let response = HTTPURLResponse(
      url: url, statusCode: status, fields: Fields(fields), isContentDecoded: isContentDecoded)
    return ResumeAnswer.interpret(response, to: resumeData)
  }

  private static let tag = ("ETag", "\"v1\"")

  @Test("a resumed download appends a 206 whose range is exactly the missing range")
  func part() throws {
    let range = ("Content-Range", "bytes 50-99/100")
    let append = ResumeAnswer.append(at: 50, total: 100)
    #expect(try answer(206, [range, Self.tag]) == append)
    #expect(try answer(206, [range, ("Content-Length", "50"), Self.tag]) == append)
    #expect(try answer(206, [range, Self.tag, ("Content-Encoding", "aws-chunked")]) == append)
    // The total is known if either the resume data or Content-Range has it.
    #expect(try answer(206, [range, Self.tag], total: nil) == append)
    #expect(try answer(206, [("Content-Range", "bytes 50-99/*"), Self.tag]) == append)
    let date = ResumeData.Validator.lastModified(Self.lastModified)
    #expect(try answer(206, [range], validator: date) == append)
    #expect(try answer(206, [range, ("Last-Modified", Self.lastModified)], validator: date) == append)
    #expect(try answer(206, [range, ("Last-Modified", "Wed Oct 21 07:28:00 2015")], validator: date) == append)
    #expect(try answer(206, [range, Self.tag], validator: date) == append)
  }

  @Test(
    "a resumed download discards a 206 with another range, and requests the entire resource",
    arguments: [
      // Another start, another end, another total, and values that aren't a single byte range.
      "bytes 0-99/100", "bytes 49-99/100", "bytes 51-99/100", "bytes 50-98/100", "bytes 50-99/101", "bytes 50-100/101",
      "bytes 50-98/*", "bytes 50-100/*", "bytes */100", "items 50-99/100", "bytes 50-99", "",
      "bytes 50-99/100, bytes 50-99/100",
    ])
  func otherPart(range: String) throws {
    #expect(try answer(206, [("Content-Range", range), Self.tag]) == .askAgain)
  }

  @Test(
    "a resumed download discards a 206 with several ranges, an unknown total, a wrong length or a decompressed body")
  func unusableParts() throws {
    let tag = Self.tag
    #expect(try answer(206, [tag]) == .askAgain)
    #expect(try answer(206, [("Content-Type", "multipart/byteranges; boundary=x"), tag]) == .askAgain)
    let range = ("Content-Range", "bytes 50-99/100")
    #expect(try answer(206, [range, range, tag]) == .askAgain)
    #expect(try answer(206, [("Content-Range", "bytes 50-99/*"), tag], total: nil) == .askAgain)
    #expect(try answer(206, [range, ("Content-Length", "49"), tag]) == .askAgain)
    #expect(try answer(206, [range, tag], isContentDecoded: true) == .askAgain)
  }

  @Test("a resumed download discards a 206 of another representation, and requests the entire resource")
  func changedPart() throws {
    let range = ("Content-Range", "bytes 50-99/100")
    // Without an entity tag in the 206, the client can't tell to which representation the part belongs.
    #expect(try answer(206, [range]) == .askAgain)
    for tag in ["\"v2\"", "W/\"v1\"", "v1", ""] { #expect(try answer(206, [range, ("ETag", tag)]) == .askAgain) }
    for date in ["Wed, 21 Oct 2015 07:28:01 GMT", "today", ""] {
      #expect(
        try answer(206, [range, ("Last-Modified", date)], validator: .lastModified(Self.lastModified)) == .askAgain)
    }
  }

  @Test("a 200 response to a resumed download replaces the bytes already received")
  func whole() throws {
    #expect(try answer(200) == .startAfresh)
    #expect(try answer(200, [("Content-Range", "bytes 50-99/100"), ("ETag", "\"v1\"")]) == .startAfresh)
  }

  @Test("a 416 completes a resumed download only if the resource's length is exactly the number of bytes received")
  func unsatisfied() throws {
    #expect(try answer(416, [("Content-Range", "bytes */50")], total: nil) == .complete)
    #expect(try answer(416, [("Content-Range", "bytes */50")], total: 50) == .complete)
    #expect(try answer(416, [("Content-Range", "bytes */50"), ("ETag", "\"v1\"")], total: nil) == .complete)
    #expect(try answer(416, [("Content-Range", "bytes */50"), ("ETag", "\"v2\"")], total: nil) == .askAgain)
    #expect(try answer(416, [("Content-Range", "bytes */50")], total: 100) == .askAgain)
    for range in ["bytes */49", "bytes */51", "bytes */0", "bytes */*", "bytes 0-49/50", "*/50", ""] {
      #expect(try answer(416, [("Content-Range", range)], total: nil) == .askAgain)
    }
    #expect(try answer(416, total: nil) == .askAgain)
  }

  @Test(
    "a resumed download keeps its partial file after a response with a status other than 200, 206 and 416",
    arguments: [201, 204, 301, 304, 401, 403, 404, 407, 412, 429, 500, 503])
  func unrelated(status: Int) throws {
    #expect(try answer(status, [("Content-Range", "bytes 50-99/100")]) == .unrelated)
  }
}
