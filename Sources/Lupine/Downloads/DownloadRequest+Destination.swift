// DownloadRequest+Destination: the destination of a downloaded file, and moving the file there.

public import Foundation
public import LupineURLSession
import Synchronization

extension DownloadRequest {
  /// Options for moving a downloaded file to its destination.
  public struct Options: OptionSet, Sendable {
    /// Creates missing directories in the path of the destination before the downloaded file is moved there.
    public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
    /// Replaces an existing file at the destination with the downloaded file, but never replaces a directory.
    public static let removePreviousFile = Options(rawValue: 1 << 1)

    /// The download options as a bit mask.
    public let rawValue: Int

    /// Creates download options from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// A closure that returns the destination of a downloaded file and the options for moving the file there. Called on the request's
  /// underlying queue with the file's temporary URL and the response.
  public typealias Destination =
    @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

  /// Returns a closure that chooses a destination in `directory`, with the file name that the server suggests. If the system defines
  /// no such directory, the closure returns the default destination.
  ///
  /// A server's account often has no folder such as `~/Documents`. If the directory doesn't exist, it is created before the file is
  /// moved there, whether or not `options` contain `.createIntermediateDirectories`.
  ///
  /// - Parameters:
  ///   - directory: The directory. `.documentDirectory` by default.
  ///   - domain: The domain in which to search for the directory. `.userDomainMask` by default.
  ///   - options: The options for moving the file. None by default.
  public static func suggestedDownloadDestination(
    for directory: FileManager.SearchPathDirectory = .documentDirectory,
    in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
  ) -> Destination {
    { temporaryURL, response in
      guard let folder = FileManager.default.urls(for: directory, in: domain).first else {
        return (defaultDestinationURL(temporaryURL), options)
      }
      let url = folder.appending(path: response.suggestedFilename ?? temporaryURL.lastPathComponent)
      // Apple's systems create these folders for each user. On Linux, only a desktop does.
      let exists = FileManager.default.fileExists(atPath: folder.path)
      return (url, exists ? options : options.union(.createIntermediateDirectories))
    }
  }

  /// Returns the default destination of a downloaded file: a new name in the directory of `temporaryURL`.
  static func defaultDestinationURL(_ temporaryURL: URL) -> URL {
    temporaryURL.deletingLastPathComponent().appending(path: "Alamofire_\(temporaryURL.lastPathComponent)")
  }

  /// Moves the downloaded file from `location` to the request's destination. Called on the underlying queue.
  func didFinishDownloading(using task: URLSessionTask, to location: URL, _ fileManager: FileManager) {
    // A request that was cancelled without resume data must leave no file.
    guard downloaded.withLock({ $0.leftover != .deleted }) else { return }
    let (url, options) =
      if let destination, let response { destination(location, response) } else {
        (Self.defaultDestinationURL(location), [] as Options)
      }
    monitors?.request(self, didCreateDestinationURL: url)
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
    monitors?.request(self, didFinishDownloadingUsing: task, with: result)
  }
}

extension DownloadDestination {
  /// Moves the file at `source` to this destination. Calls the methods of `fileManager` only if it is an instance of a subclass,
  /// which may override them.
  fileprivate func move(from source: URL, with fileManager: FileManager) throws {
    guard type(of: fileManager) != FileManager.self else { return try move(from: source) }
    if createsIntermediateDirectories {
      try fileManager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    if removesPreviousFile, fileManager.fileExists(atPath: url.path) { try fileManager.removeItem(at: url) }
    try fileManager.moveItem(at: source, to: url)
  }
}
