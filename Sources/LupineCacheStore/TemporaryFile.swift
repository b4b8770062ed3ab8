// TemporaryFile: a file that is being written, under a temporary name, which a lock protects from the scans of other processes.

internal import LupineReactor

/// A new file with a temporary name. If the process ends, the kernel releases the file's lock, and the next scan of the folder
/// removes the file.
struct TemporaryFile: ~Copyable {
  let name: String
  private let file: WritableFile

  /// The maximum number of attempts to create a temporary file: 4. Another attempt is useful if another process has scanned the
  /// folder after the file was created and before it was locked.
  private static let attemptsMax: UInt64 = 4

  /// Creates and locks a temporary file. A scan by another process can remove the file before it is locked. In that case, tries
  /// again. `id` must be random, so that it is unique in the folder.
  init(in folder: Folder, _ id: UInt64) throws(SystemError) {
    var failure = SystemError(call: "open", code: 0)
    for attempt in 0..<Self.attemptsMax {
      let name = RecordName.temporary(id &+ attempt)
      do throws(SystemError) {
        let file = try WritableFile(creating: name, in: folder)
        do throws(SystemError) {
          try file.lock()
        } catch {
          // A scan can't lock the file either, so that it would remain.
          try? folder.remove(name)
          throw error
        }
        if folder.contains(name) {
          self.name = name
          self.file = file
          return
        }
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// Returns the open file, which its new owner must rename or remove.
  consuming func takeFile() -> WritableFile { file }
}
