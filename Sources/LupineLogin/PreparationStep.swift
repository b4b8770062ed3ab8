// PreparationStep: the next step in the preparation of a request.

import LupineAuthentication
import LupineEngine

/// The next step in the preparation of a request, as one part of a task's authentication decides it.
enum PreparationStep<Additions: Sendable>: Sendable {
  /// The part is prepared, and adds this to the request, or nothing.
  case add(Additions?)
  /// The first message of this handshake must be created outside of any lock, because creating it may block. The channel binding is
  /// that of the server's TLS connections, or nil without TLS.
  case start(ConnectionHandshake, ChannelBinding?)
  /// The request can't be sent.
  case fail(ConnectionHandshake.Failure)

  func map<Other>(_ convert: (Additions?) -> Other?) -> PreparationStep<Other> {
    switch self {
    case .add(let additions): .add(convert(additions))
    case .start(let handshake, let binding): .start(handshake, binding)
    case .fail(let failure): .fail(failure)
    }
  }
}
