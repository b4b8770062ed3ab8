// ChallengedSession: challenges of a session's tasks, without their transfers.

import Synchronization

@testable import LupineAuthentication
@testable import LupineEngine
@testable import LupineLogin
@testable import LupineURLSession

/// A session whose tasks receive challenges.
final class ChallengedSession: Sendable {
  private let session = SessionAuthentication(SessionLogins(AuthenticationSources(nonce: { "c" })))

  /// Returns the challenge that a new task's delegate receives after `party` has refused the request, or nil if there is none.
  func challenge(
    _ challenges: [Challenge], to request: EngineRequest, from party: AuthenticationParty? = nil, rejected: Int = 0,
    failures: Int = 0, storage: URLCredentialStorage? = nil, response: HTTPURLResponse? = nil
  ) -> URLAuthenticationChallenge? {
    let party = party ?? .origin(request.uri.origin)
    let offers = session.withLock { $0.spaces.offers(in: challenges, from: party) }
    let question = AuthenticationQuestion(party: party, offers: offers, request: request)
    let task = Mutex(TaskAuthentication(KnownCredentials(storage)))
    return URLAuthenticationChallenge(
      question, rejectedCount: rejected, previousFailureCount: failures, storage: storage, response: response
    ) { [session] offer, credential in
      task.withLock { task in
        session.withLock { task.respond(to: offer, of: question, with: credential, &$0) }
      }
    }
  }
}
