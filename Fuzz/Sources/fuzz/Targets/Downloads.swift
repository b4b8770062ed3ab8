// Resume data of downloads, which programs may store where an attacker can change it.

import Foundation
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the parser of resume data. The input is the resume data of a download.
  static let resumeData = FuzzTarget(
    name: "resume-data",
    summary: "resume data names only the file of a download and a URL of the network, and reads back"
  ) { bytes in
    guard let data = try? ResumeData(Data(bytes)) else { return }
    let name = data.path.split(separator: "/").last ?? ""
    hold(data.path.hasPrefix("/") && name.hasPrefix("lupine-download-") && name.hasSuffix(".tmp"), data.path)
    hold(!["file", "data"].contains(data.url.scheme?.lowercased() ?? "file"), "\(data.url)")
    hold(data.totalByteCount.map { $0 >= data.receivedByteCount } ?? true, "\(data)")
    let range = data.makeRequest().value(forHTTPHeaderField: "Range")
    hold(range == "bytes=\(data.receivedByteCount)-", range ?? "no Range")
    guard let serialized = data.serialized else { return }
    let again = try? ResumeData(serialized)
    hold(
      again?.path == data.path && again?.validator == data.validator, "\(data) reads as \(String(describing: again))")
    hold(again?.receivedByteCount == data.receivedByteCount && again?.totalByteCount == data.totalByteCount, "\(data)")
    hold(again?.options == data.options, "\(data.options) read as \(String(describing: again?.options))")
  }
}
