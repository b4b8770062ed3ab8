// Serialization of downloads: URLResponseSerializer returns the file's URL, and data serializers read the file.

import Foundation
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct DownloadResponseSerializationTests {
  private struct Failure: Error {}

  private func url<Serializer: DownloadResponseSerializerProtocol<URL>>(
    _ serializer: Serializer, _ file: URL?, _ error: (any Error)? = nil
  ) throws -> URL {
    try serializer.serializeDownload(request: nil, response: nil, fileURL: file, error: error)
  }

  @Test("the URL serializer returns the URL of the downloaded file, whether or not the file exists")
  func fileURL() throws {
    let file = URL(filePath: "/missing/file")
    #expect(try url(.url, file) == file)
    #expect(try url(URLResponseSerializer(), file) == file)
  }

  @Test("each data serializer reads the downloaded file")
  func serializers() throws {
    try withFolder { folder in
      let file = folder.appending(path: "body")
      try Data(#"{"x":1}"#.utf8).write(to: file)
      let data = try DataResponseSerializer().serializeDownload(
        request: nil, response: nil, fileURL: file, error: nil)
      #expect(data == Data(#"{"x":1}"#.utf8))
      let text = try StringResponseSerializer().serializeDownload(
        request: nil, response: nil, fileURL: file, error: nil)
      #expect(text == #"{"x":1}"#)
      let value = try DecodableResponseSerializer<[String: Int]>().serializeDownload(
        request: nil, response: nil, fileURL: file, error: nil)
      #expect(value == ["x": 1])
    }
  }

  @Test("an empty downloaded file is serialized like an empty body")
  func emptyFile() throws {
    try withFolder { folder in
      let file = folder.appending(path: "body")
      try Data().write(to: file)
      let head = try URLRequest(url: "https://h/", method: .head)
      let serializer = DataResponseSerializer()
      #expect(try serializer.serializeDownload(request: head, response: nil, fileURL: file, error: nil) == Data())
      #expect {
        _ = try serializer.serializeDownload(request: nil, response: nil, fileURL: file, error: nil)
      } throws: { error in
        guard case AFError.responseSerializationFailed(.inputDataNilOrZeroLength) = error else { return false }
        return true
      }
    }
  }

  @Test("serializers of downloads rethrow the request's error, or throw inputFileNil if there is no file URL")
  func errors() {
    let serializer = StringResponseSerializer()
    let missing = URL(filePath: "/missing/file")
    #expect(throws: Failure.self) { try url(.url, missing, Failure()) }
    #expect(throws: Failure.self) {
      try serializer.serializeDownload(request: nil, response: nil, fileURL: missing, error: Failure())
    }

    func isFileNil(_ error: any Error) -> Bool {
      if case AFError.responseSerializationFailed(.inputFileNil) = error { true } else { false }
    }
    #expect { try url(.url, nil) } throws: { isFileNil($0) }
    #expect {
      try serializer.serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
    } throws: {
      isFileNil($0)
    }
  }

  @Test("serializers of downloads throw inputFileReadFailed with the file's URL if the file can't be read")
  func unreadable() {
    let missing = URL(filePath: "/missing/file")
    #expect {
      _ = try StringResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: missing, error: nil)
    } throws: { error in
      guard case AFError.responseSerializationFailed(.inputFileReadFailed(missing)) = error else { return false }
      return true
    }
  }
}
