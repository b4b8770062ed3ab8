// The authentication of a task with the credentials of a storage, as a session creates it.

import LupineAuthentication
import LupineEngine

@testable import LupineLogin
@testable import LupineURLSession

extension TaskAuthentication {
  convenience init(_ session: SessionAuthentication, storage: URLCredentialStorage?) {
    self.init(session, KnownCredentials(storage))
  }

  /// Answers a challenge with a delegate's credential. Returns nil if the credential has no password.
  func answer(_ challenge: DigestChallenge, with credential: URLCredential, to request: EngineRequest) -> String? {
    PasswordCredential(credential).flatMap { answer(challenge, with: $0, to: request) }
  }
}
