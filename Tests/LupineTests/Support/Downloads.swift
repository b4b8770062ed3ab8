// Functions for tests of download requests: their destinations, progress, files and resume data.

import Foundation
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// Returns a destination that moves the download to a file of the folder, replacing an earlier file.
func into(_ folder: URL, _ name: String = "file") -> DownloadRequest.Destination {
  { _, _ in (folder.appending(path: name), [.removePreviousFile]) }
}

extension DownloadRequest {
  /// Resumes the download, and waits until it has written this number of bytes.
  func receives(_ byteCount: Int) async {
    let counts = Recorder<Int64>()
    downloadProgress(queue: .global()) { counts.record($0.completedUnitCount) }
    resume()
    while let count = await counts.next(), count < Int64(byteCount) {}
  }
}

extension AFDownloadResponse {
  /// The content of the downloaded file, or nil if there is no file.
  var content: Data? { fileURL.flatMap { try? Data(contentsOf: $0) } }

  /// The path of the partial file in the response's resume data, or nil without resume data.
  var leftPath: String? { resumeData.flatMap { try? ResumeData($0).path } }
}

/// Downloads `resource` from a server that closes the connection after `place` bytes, and returns the resume data.
func resumeData(
  of resource: Resource, cutAt place: Int, in session: Session, from url: String
) async throws -> Data {
  let response = await session.download(url).outcome()
  #expect(response.fileURL == nil)
  let data = try #require(response.resumeData)
  #expect(try ResumeData(data).receivedByteCount == UInt64(place))
  return data
}
