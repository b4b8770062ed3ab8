// A request with a body of bytes, of a file or of a stream.

public import Foundation
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A data request that sends a body.
public final class UploadRequest: DataRequest, @unchecked Sendable {
  /// What is sent.
  public enum Uploadable: @unchecked Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file, which is removed afterwards if `shouldRemove`.
    case file(URL, shouldRemove: Bool)
    /// A stream, which is read once.
    case stream(InputStream)
  }

  func inputStream() -> InputStream { InputStream(data: Data()) }
}
