// Upload: an input that is streamed as a request's body, and can be sent only until some of it has been read.

import LupineEngine
import Synchronization

/// The input of --upload-file if it is a pipe or a device, which can be read only once.
///
/// The request can be sent again only if nothing of the input has been read, for example if the server answers `Expect:
/// 100-continue` with a challenge.
final class Upload: Sendable {
  private struct State: ~Copyable {
    var input: InputStream?
    /// The number of the latest request body that reads the input. Bodies with lower numbers must not read it.
    var bodyCount = 0
    var isRead = false
  }

  private let state = Mutex(State())

  /// Stores the input, and returns a request body that reads it.
  func begin(_ input: InputStream) -> RequestBody {
    state.withLock { $0.input = input }
    return body(of: input)
  }

  /// Returns a new request body that reads the input in place of the earlier bodies. Returns nil if there is no input, or if an
  /// earlier body has begun to read it.
  func again() -> RequestBody? {
    let input = state.withLock { state in
      // An earlier body that hasn't begun yet must not begin later.
      state.bodyCount += 1
      return state.isRead ? nil : state.input
    }
    return input.map { body(of: $0) }
  }

  private func body(of input: InputStream) -> RequestBody {
    let number = state.withLock { $0.bodyCount }
    return RequestBody { [self] writer in
      let isLatest = state.withLock { state in
        if state.bodyCount == number { state.isRead = true }
        return state.bodyCount == number
      }
      guard isLatest else { throw CancellationError() }
      while case let bytes = try await input.read(), !bytes.isEmpty { try await writer.write(bytes) }
    }
  }
}
