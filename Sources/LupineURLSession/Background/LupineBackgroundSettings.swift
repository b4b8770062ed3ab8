// LupineBackgroundSettings: the settings of background sessions that Lupine adds to Foundation's.

public import Foundation
import LupineEngine

/// Lupine's settings for background sessions: the directory in which tasks are recorded, whether the records contain credentials,
/// and the delay before a task tries again after a failed connection.
public struct LupineBackgroundSettings: Sendable, Hashable {
  /// The directory in which background sessions record their tasks, in one subdirectory for each session identifier. If nil (the
  /// default), this is `$XDG_STATE_HOME/lupine/sessions` or, if that environment variable isn't set,
  /// `~/.local/state/lupine/sessions`.
  ///
  /// Sessions create missing directories, accessible to this user only. The directory must be on a local disk. Each process that
  /// continues a session must set the same directory.
  public var directory: URL?

  /// Whether the records on disk contain credentials, unencrypted. False by default. Credentials are the user and password in a
  /// URL, the response fields Set-Cookie, WWW-Authenticate, Authentication-Info and Proxy-Authentication-Info, and the request
  /// fields Authorization, Cookie and all others that a ``URLSessionConfiguration/redirectRule`` binds to their origin.
  ///
  /// If false, a later process calls ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)``
  /// before it sends a request from which credentials were omitted, so that the delegate can add them again.
  public var recordsCredentials = false

  /// The delay between the first failed connection of a task and the next attempt: 1 second by default. The delay doubles with each
  /// further failure, up to ``retryDelayMax``.
  public var retryDelayMin: Duration = .seconds(1)

  /// The maximum delay between two attempts of a task: 10 minutes by default.
  public var retryDelayMax: Duration = .seconds(600)

  /// Creates the default settings.
  public init() {}
}

/// The settings in a session configuration that have an effect only in background sessions.
struct BackgroundOptions: Sendable {
  /// The background session's identifier. Nil if the session isn't a background session.
  var identifier: String?
  var isDiscretionary = false
  var sendsLaunchEvents = true
  var settings = LupineBackgroundSettings()

  /// The path of the directory in which the background session records its tasks. Nil if there is no session identifier, or if the
  /// identifier is empty or too long for a directory's name.
  var folder: String? {
    guard let identifier, let name = Self.folderName(of: identifier) else { return nil }
    return "\(settings.directory?.path ?? Self.defaultDirectory)/\(name)"
  }

  private static var defaultDirectory: String {
    let variables = Environment.values(of: ["XDG_STATE_HOME", "HOME"])
    // A relative path is ignored, as the XDG Base Directory Specification requires.
    if let state = variables["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/lupine/sessions" }
    let home = variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    return "\(home)/.local/state/lupine/sessions"
  }

  /// The maximum length of a directory's name on Linux, in bytes (NAME_MAX).
  private static let folderNameBytesMax = 255

  /// Converts a session identifier to a directory name that is unique to the identifier. Letters, digits, hyphens and underscores
  /// are copied, and so are periods after the first byte. All other bytes are percent-encoded. Returns nil if the name would be
  /// empty or longer than 255 bytes.
  static func folderName(of identifier: String) -> String? {
    var name = ""
    for byte in identifier.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.append(Character(UnicodeScalar(byte)))
      case UInt8(ascii: ".") where !name.isEmpty: name.append(".")
      default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return name.isEmpty || name.utf8.count > folderNameBytesMax ? nil : name
  }
}
