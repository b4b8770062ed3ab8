// The authentication of a task with the credentials of a storage, as a session creates it.

import LupineAuthentication
import LupineEngine

@testable import LupineLogin
@testable import LupineURLSession

extension TaskAuthentication {
  convenience init(_ session: SessionAuthentication, storage: URLCredentialStorage?) {
    self.init(session, KnownCredentials(storage))
  }

  /// Returns the Authorization field that answers the Digest challenge with the credential, or nil if that has no password.
  func answer(_ challenge: DigestChallenge, with credential: URLCredential, to request: EngineRequest) -> String? {
    PasswordCredential(credential).flatMap { answer(challenge, with: $0, to: request) }
  }
}
