// NetrcUse: the options --netrc, --netrc-optional and --netrc-file, and the file that they name.

import LupineEngine

/// The command-line options that determine whether the command reads a netrc file, and which file.
struct NetrcUse: Equatable {
  /// Whether the option --netrc was given, which makes the command read the netrc file.
  var isRequired = false
  /// Whether --netrc-optional was given: the netrc file may be missing, and the URL's user information takes precedence over the
  /// file's login.
  var isOptional = false
  /// The path given with --netrc-file, or nil for `.netrc` in the home folder.
  var path: String?

  /// Whether the netrc file must exist, and its login takes precedence over the URL's user information.
  var takesPrecedence: Bool { !isOptional && (isRequired || path != nil) }

  /// Reads the netrc file. Returns nil if no option requests it, or if it is optional and can't be opened.
  func load() throws(CommandError) -> Netrc? {
    guard isRequired || isOptional || path != nil else { return nil }
    let home = Environment.values(of: ["HOME"])["HOME"]
    guard let path = path ?? home.map({ $0 + "/.netrc" }) else {
      if isOptional { return nil }
      throw CommandError(
        .unreadableInput, "HOME isn't set, so the netrc file can't be found. Pass its path to --netrc-file.")
    }
    guard let bytes = try read(path) else { return nil }
    do throws(Netrc.Defect) {
      return try Netrc(bytes)
    } catch {
      throw CommandError(.unreadableInput, "\(path)\(error.explanation)")
    }
  }

  private func read(_ path: String) throws(CommandError) -> [UInt8]? {
    if isOptional, !InputFile.canBeOpened(path) { return nil }
    // Reads one byte more than allowed to detect a file that is too long. Reads no further, because a device may have no end.
    return try InputFile.contents(of: path, atMost: Netrc.fileBytesMax + 1)
  }
}

extension Netrc.Defect {
  /// The part of the error message after the netrc file's path: the cause and the remedy. It quotes nothing from the file, because
  /// the file contains passwords.
  fileprivate var explanation: String {
    switch self {
    case .fileIsTooLong: " has more than \(Netrc.fileBytesMax) bytes. Shorten the file."
    case .tokenIsTooLong(let line):
      ", line \(line): a name or password has more than \(Netrc.tokenBytesMax) bytes. Shorten it."
    case .quoteIsOpen(let line):
      ", line \(line): a quotation mark isn't closed. Close it, or put a backslash before one within quotation marks."
    case .notUTF8(let line): ", line \(line): the text isn't UTF-8. Convert the file."
    }
  }
}
