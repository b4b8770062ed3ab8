// Where a downloaded file goes, and its way there.

public import Foundation
public import LupineURLSession
import Synchronization

extension DownloadRequest {
  /// What may be done to put a file where it is wanted.
  public struct Options: OptionSet, Sendable {
    /// Folders of the path that are missing are made.
    public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
    /// A file at the destination is replaced; a folder never is.
    public static let removePreviousFile = Options(rawValue: 1 << 1)

    /// The options as bits.
    public let rawValue: Int

    /// Makes options of bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// Says where a complete file is moved, and what may be done for that. Called on the underlying queue with the file's
  /// temporary URL and the response.
  public typealias Destination =
    @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

  /// A destination in one of the user's folders, under the name that the server suggests; the default destination if there
  /// is no such folder.
  public static func suggestedDownloadDestination(
    for directory: FileManager.SearchPathDirectory = .documentDirectory,
    in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
  ) -> Destination {
    { temporaryURL, response in
      let folder = FileManager.default.urls(for: directory, in: domain).first
      let url = folder.map { $0.appending(path: response.suggestedFilename ?? temporaryURL.lastPathComponent) }
      return (url ?? defaultDestinationURL(temporaryURL), options)
    }
  }

  /// Beside the temporary file, which is removed, under another name.
  static func defaultDestinationURL(_ temporaryURL: URL) -> URL {
    temporaryURL.deletingLastPathComponent().appending(path: "Alamofire_\(temporaryURL.lastPathComponent)")
  }

  /// The file is complete: moves it where it is wanted. On the underlying queue.
  func didFinishDownloading(using task: URLSessionTask, to location: URL, _ fileManager: FileManager) {
    // Cancelled without a wish to go on with it: nothing is left behind.
    guard !isCancelled || downloaded.withLock({ $0.keepsFile }) else { return }
    let (url, options) =
      if let destination, let response { destination(location, response) } else {
        (Self.defaultDestinationURL(location), [] as Options)
      }
    downloadMonitors?.request(self, didCreateDestinationURL: url)
    let result = Result {
      try DownloadDestination(
        url: url, createsIntermediateDirectories: options.contains(.createIntermediateDirectories),
        removesPreviousFile: options.contains(.removePreviousFile)
      ).move(from: location, with: fileManager)
      return url
    }.mapError { AFError.downloadedFileMoveFailed(error: $0, source: location, destination: url) }
    switch result {
    case .success(let url): downloaded.withLock { $0.fileURL = url }
    case .failure(let error): mutableState.withLock { $0.error = $0.error ?? error }
    }
    downloadMonitors?.request(self, didFinishDownloadingUsing: task, with: result)
  }
}

extension DownloadDestination {
  /// Moves a file there; a subclass of `FileManager` does it in its own way.
  fileprivate func move(from source: URL, with fileManager: FileManager) throws {
    guard type(of: fileManager) != FileManager.self else { return try move(from: source) }
    if createsIntermediateDirectories {
      try fileManager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    if removesPreviousFile, fileManager.fileExists(atPath: url.path) { try fileManager.removeItem(at: url) }
    try fileManager.moveItem(at: source, to: url)
  }
}
