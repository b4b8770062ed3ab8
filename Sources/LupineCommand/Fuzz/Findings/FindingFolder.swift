// FindingFolder: saves findings as files, and reads saved requests.

import LupineEngine
import LupineLibc

/// The folder of `--save`. Only the user can read its files, because requests and responses may contain secrets.
struct FindingFolder {
  /// The maximum number of files with the same name, apart from the number at its end: 1,000.
  private static let sameNamesMax = 1_000
  /// The maximum size of a saved request in bytes: 1 MiB. The fuzzer's own requests have less than 400 KB.
  static let requestBytesMax = 1024 * 1024

  let path: String
  private let folder: Folder

  /// Opens the folder, or creates it.
  init(_ path: String) throws(CommandError) {
    self.path = path
    do {
      folder = try Folder(creating: path)
    } catch {
      throw CommandError(
        .writeError, "\(path) can't be used (\(error)). --save needs a folder that only you can change.")
    }
  }

  /// Saves a finding as three files: NAME.json, NAME.request and NAME.response. Never replaces a file. `command` creates the command
  /// line for the path of NAME.json. Returns the finding with its command.
  func save(
    _ finding: FuzzFinding, request: [UInt8], response: [UInt8], command: (_ path: String) -> String
  ) throws(CommandError) -> FuzzFinding {
    // The name contains only digits and the words of a fault, so it can't leave the folder.
    let base = "\(finding.seed)-\(finding.number)-\(finding.fault.replacing(" ", with: "-"))"
    var finding = finding
    for copy in 1...Self.sameNamesMax {
      let name = copy == 1 ? base : "\(base)-\(copy)"
      guard try create("\(name).request", request, isRequired: false) else { continue }
      finding.command = command("\(path)/\(name).json")
      try create("\(name).response", response)
      try create("\(name).json", Array(finding.jsonLine.utf8))
      return finding
    }
    throw CommandError(.writeError, "\(path) has \(Self.sameNamesMax) findings named \(base). Use another folder.")
  }

  /// Creates a file. Returns false if it exists and `isRequired` is false.
  @discardableResult
  private func create(_ name: String, _ bytes: [UInt8], isRequired: Bool = true) throws(CommandError) -> Bool {
    do throws(SystemError) {
      let file = try WritableFile(creating: name, in: folder)
      try file.write(bytes.span, at: 0)
      try file.close()
      return true
    } catch {
      if error.code == EEXIST, !isRequired { return false }
      throw CommandError(.writeError, "\(path)/\(name) can't be written (\(error)). Check the free disk space.")
    }
  }

  // MARK: Reading

  /// A saved request, and the finding to which it belongs, if it is known.
  static func read(_ path: String) throws(CommandError) -> (parts: [[UInt8]], finding: FuzzFinding?) {
    guard path.hasSuffix(".json") else { return ([try request(path)], nil) }
    guard let finding = FuzzFinding(json: try contents(path)) else {
      throw CommandError(
        .unreadableInput, "\(path) isn't a finding of lupine fuzz --save. Pass a file that it has written.")
    }
    let requestPath = path.dropLast(".json".count) + ".request"
    guard let parts = finding.divided(try request(String(requestPath))) else {
      throw CommandError(
        .unreadableInput, "\(requestPath) doesn't have the size that \(path) states. Save the finding again.")
    }
    return (parts, finding)
  }

  static func request(_ path: String) throws(CommandError) -> [UInt8] {
    let bytes = try contents(path)
    guard !bytes.isEmpty else { throw CommandError(.unreadableInput, "\(path) is empty. Pass a file with a request.") }
    return bytes
  }

  private static func contents(_ path: String) throws(CommandError) -> [UInt8] {
    let bytes = try InputFile.contents(of: path, atMost: requestBytesMax + 1)
    guard bytes.count <= requestBytesMax else {
      throw CommandError(.unreadableInput, "\(path) has more than \(requestBytesMax) bytes. Pass a shorter request.")
    }
    return bytes
  }
}
