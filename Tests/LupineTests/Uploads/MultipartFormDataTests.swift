// MultipartFormData: the exact bytes of forms with data, files and streams, in memory and in a file, and properties.

import Foundation
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct MultipartFormDataTests {
  /// Encodes the form that `build` creates, and returns the text. Checks that a form written to a file has the same bytes.
  private static func encoded(_ build: (MultipartFormData) throws -> Void) throws -> String {
    try withFolder { folder in
      let inMemory = MultipartFormData(boundary: "B")
      try build(inMemory)
      let data = try inMemory.encode()

      let inFile = MultipartFormData(boundary: "B")
      try build(inFile)
      let file = folder.appending(path: "form")
      try inFile.writeEncodedData(to: file)
      #expect(try Data(contentsOf: file) == data)
      return String(decoding: data, as: UTF8.self)
    }
  }

  // MARK: Bytes

  @Test("a form encodes a part with the opening delimiter, Content-Disposition, the data and the closing delimiter")
  func onePart() throws {
    let text = try Self.encoded { $0.append(Data("value".utf8), withName: "field") }
    #expect(text == "--B\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nvalue\r\n--B--\r\n")
  }

  @Test("a form encodes a part's file name and media type if they are given")
  func partHeaders() throws {
    let text = try Self.encoded { form in
      form.append(Data("1".utf8), withName: "a", fileName: "f.txt")
      form.append(Data("2".utf8), withName: "b", mimeType: "text/x")
      form.append(Data(), withName: "ü", fileName: "g h", mimeType: "text/y")
    }
    #expect(
      text == "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f.txt\"\r\n\r\n1"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"b\"\r\nContent-Type: text/x\r\n\r\n2"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"ü\"; filename=\"g h\"\r\nContent-Type: text/y\r\n\r\n"
        + "\r\n--B--\r\n")
  }

  @Test(
    "quotation marks and line breaks in a part's name and file name are escaped as in the HTML standard",
    arguments: [
      ("\"", "%22"), ("\r", "%0D"), ("\n", "%0A"), ("\r\n", "%0D%0A"), ("a\"; filename=\"x", "a%22; filename=%22x"),
      ("a\r\n\r\nb", "a%0D%0A%0D%0Ab"), ("\n\r\"", "%0A%0D%22"), ("e\u{301}\"\u{301}", "e\u{301}%22\u{301}"),
      ("%22 \\ ü", "%22 \\ ü"),
    ])
  func escaping(name: String, expected: String) throws {
    let disposition = "Content-Disposition: form-data; name=\"\(expected)\"; filename=\"\(expected)\"\r\n"
    let text = try Self.encoded { $0.append(Data("1".utf8), withName: name, fileName: name, mimeType: "a/b") }
    #expect(text == "--B\r\n\(disposition)Content-Type: a/b\r\n\r\n1\r\n--B--\r\n")
    let streamed = try Self.encoded {
      $0.append(InputStream(data: Data("1".utf8)), withLength: 1, name: name, fileName: name, mimeType: "a/b")
    }
    #expect(streamed == text)
  }

  @Test(
    "a form part from a file has the file's name and the media type of the file's extension, unless others are given")
  func files() throws {
    try withFolder { folder in
      let file = folder.appending(path: "a b.JPEG")
      try Data("pixels".utf8).write(to: file)
      let text = try Self.encoded { form in
        form.append(file, withName: "x")
        form.append(file, withName: "y", fileName: "other", mimeType: "image/z")
      }
      #expect(
        text == "--B\r\nContent-Disposition: form-data; name=\"x\"; filename=\"a b.JPEG\"\r\n"
          + "Content-Type: image/jpeg\r\n\r\npixels"
          + "\r\n--B\r\nContent-Disposition: form-data; name=\"y\"; filename=\"other\"\r\n"
          + "Content-Type: image/z\r\n\r\npixels\r\n--B--\r\n")
    }
  }

  @Test(
    "a form encodes a part from a stream with its file name and media type, or with the given header fields in order")
  func streams() throws {
    let text = try Self.encoded { form in
      form.append(
        InputStream(data: Data("abc".utf8)), withLength: 3, name: "s", fileName: "s.bin", mimeType: "text/plain")
      form.append(
        InputStream(data: Data("de".utf8)), withLength: 2,
        headers: ["X-B": "1", "X-A": "2", "Content-Disposition": "form-data; name=t"])
      form.append(InputStream(data: Data()), withLength: 0, headers: [:])
    }
    #expect(
      text
        == "--B\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s.bin\"\r\nContent-Type: text/plain\r\n\r\n"
        + "abc\r\n--B\r\nX-B: 1\r\nX-A: 2\r\nContent-Disposition: form-data; name=t\r\n\r\nde"
        + "\r\n--B\r\n\r\n\r\n--B--\r\n")
  }

  @Test("a form without parts is encoded as empty data")
  func noParts() throws {
    #expect(try Self.encoded { _ in }.isEmpty)
    #expect(MultipartFormData().contentLength == 0)
  }

  @Test(
    "a form encodes long parts completely, whatever the size of the buffer",
    arguments: [65_535, 65_536, 65_537, 1_000_003])
  func longParts(byteCount: Int) throws {
    let bytes = Data(SequenceBytes.bytes(from: 0, count: byteCount))
    try withFolder { folder in
      let source = folder.appending(path: "long.bin")
      try bytes.write(to: source)
      let form = MultipartFormData(boundary: "B")
      form.append(source, withName: "f")
      form.append(InputStream(url: source) ?? InputStream(data: bytes), withLength: UInt64(byteCount), headers: [:])
      #expect(form.contentLength == UInt64(2 * byteCount))
      let target = folder.appending(path: "form")
      try form.writeEncodedData(to: target)

      let type = MediaTypeTable.system.type(forExtension: "bin")
      let head =
        "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"long.bin\"\r\nContent-Type: \(type)\r\n\r\n"
      var expected = Data(head.utf8) + bytes + Data("\r\n--B\r\n\r\n".utf8)
      expected += bytes + Data("\r\n--B--\r\n".utf8)
      #expect(try Data(contentsOf: target) == expected)
    }
  }

  // The test runs in a dedicated process, because other tests allocate memory concurrently.
  @Test("writing a form of 128 MB to a file takes less than 48 MB of additional memory", .timeLimit(.minutes(10)))
  func constantMemory() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try withFolder { folder in
        let source = folder.appending(path: "sparse.bin")
        try Data().write(to: source)
        try FileHandle(forWritingTo: source).truncate(atOffset: 64 << 20)
        let form = MultipartFormData()
        form.append(source, withName: "file")
        let stream = InputStream(url: source) ?? InputStream(data: Data())
        form.append(stream, withLength: 64 << 20, headers: [:])

        let before = try residentBytesMax()
        try form.write(to: FileHandle(forWritingTo: URL(filePath: "/dev/null")))
        let grown = try residentBytesMax() - before
        try FileHandle.standardError.write(contentsOf: Data("grown by less: \(grown < 48 << 20), \(grown)\n".utf8))
      }
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("grown by less: true"), "\(words)")
  }

  @Test("a form that contains only data and files can be encoded several times")
  func encodedTwice() throws {
    let form = MultipartFormData(boundary: "B")
    form.append(Data("value".utf8), withName: "field")
    #expect(try form.encode() == form.encode())
  }

  @Test("encoding a form reads a stream that is already open from the stream's current position")
  func openStream() throws {
    let stream = InputStream(data: Data("abcde".utf8))
    stream.open()
    var bytes: [UInt8] = [0, 0]
    #expect(stream.read(&bytes, maxLength: 2) == 2)
    let form = MultipartFormData(boundary: "B")
    form.append(stream, withLength: 3, headers: [:])
    #expect(try form.encode() == Data("--B\r\n\r\ncde\r\n--B--\r\n".utf8))
    #expect(stream.streamStatus == .closed)
  }

  // MARK: Properties

  @Test("a form's boundary is random unless it is given, and is part of the form's content type")
  func boundary() throws {
    let form = MultipartFormData()
    #expect(try form.boundary.wholeMatch(of: Regex("alamofire\\.boundary\\.[0-9a-f]{16}")) != nil)
    #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
    #expect(MultipartFormData().boundary != form.boundary)
    // Each of the 64 bits is 0 in some boundaries, and 1 in others.
    let numbers = try (0..<64).map { _ in try #require(UInt64(MultipartFormData().boundary.suffix(16), radix: 16)) }
    #expect(numbers.reduce(0) { $0 | $1 } == UInt64.max)
    #expect(numbers.reduce(UInt64.max) { $0 & $1 } == 0)

    let own = MultipartFormData(boundary: "own")
    #expect(own.contentType == "multipart/form-data; boundary=own")
    own.contentType = "multipart/mixed; boundary=own"
    #expect(own.contentType == "multipart/mixed; boundary=own")
    #expect(own.boundary == "own")
  }

  @Test("MultipartFormData.contentLength is the sum of the lengths of the parts' bodies, and at most UInt64.max")
  func contentLength() throws {
    try withFolder { folder in
      let file = folder.appending(path: "f.txt")
      try Data("1234".utf8).write(to: file)
      let form = MultipartFormData()
      form.append(Data("ab".utf8), withName: "a")
      form.append(file, withName: "b")
      form.append(InputStream(data: Data()), withLength: 100, headers: [:])
      #expect(form.contentLength == 106)
      form.append(InputStream(data: Data()), withLength: .max, headers: [:])
      #expect(form.contentLength == .max)
    }
  }

  @Test("by default, the threshold for encoding a form in memory is 10 MB")
  func threshold() {
    #expect(MultipartFormData.encodingMemoryThreshold == 10_000_000)
  }

  @Test("the file to which a multipart form is written has the permissions 0600")
  func permissions() throws {
    try withFolder { folder in
      let file = folder.appending(path: "form")
      try MultipartFormData().writeEncodedData(to: file)
      let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect(permissions as? Int == 0o600)
    }
  }

  @Test("a form encodes a symbolic link with the content of its target and the name of the link")
  func link() throws {
    try withFolder { folder in
      try Data("a longer text than the link's".utf8).write(to: folder.appending(path: "f"))
      let link = folder.appending(path: "l.txt")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "f")
      let form = MultipartFormData(boundary: "B")
      form.append(link, withName: "n")
      let text = String(decoding: try form.encode(), as: UTF8.self)
      #expect(text.contains("filename=\"l.txt\"\r\nContent-Type: text/plain\r\n\r\na longer text than the link's\r\n"))
    }
  }
}

/// Returns this process's peak resident memory, in bytes.
private func residentBytesMax() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
  return try #require(Int(line.filter(\.isNumber))) << 10
}
