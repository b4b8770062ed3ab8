// What an authentication interceptor knows, and what it decides by that; pure, so that the caller acts outside its lock.

import Foundation

/// A credential with its number: another one has another number, even if they are equal.
struct Numbered<Credential: Sendable>: Sendable {
  let credential: Credential
  let number: Int
}

/// The credential, the refresh that runs, who waits for it, and the refreshes before.
struct AuthenticationState<Credential: Sendable, Waiter: Sendable>: Sendable {
  enum Admission {
    case missing
    case waiting
    /// There is this one; whether it has to be refreshed is for the caller to ask.
    case current(Numbered<Credential>)
  }

  enum Joining {
    /// A refresh of that number is to begin, and the waiter waits for it.
    case begin(Int)
    case waiting
    case refused(any Error)
    /// The credential has been replaced, so that no refresh may be needed.
    case outdated
  }

  private struct Refresh {
    let number: Int
    /// The number of the credential when it began.
    let credentialNumber: Int
    /// Requests that weren't sent wait for it, so that further ones wait as well.
    var holdsAdapts = false
    /// Requests that were refused wait for it.
    var holdsRetries = false
  }

  private(set) var current: Numbered<Credential>?
  private var credentialCount = 0
  private var refreshCount = 0
  private var refresh: Refresh?
  /// Why the last refresh after a refusal of the current credential has failed.
  private var failure: (any Error)?
  private var waiters: [Waiter] = []

  /// Seconds, and refreshes that may begin within them; nil for no limit.
  private let window: (interval: TimeInterval, attemptsMax: Int)?
  /// When refreshes began within the window, at most as many as it allows.
  private var beginnings: [TimeInterval] = []

  init(credential: Credential?, window: (interval: TimeInterval, attemptsMax: Int)?) {
    self.window = window
    replaceCredential(credential)
  }

  mutating func replaceCredential(_ credential: Credential?) {
    credentialCount += 1
    current = credential.map { Numbered(credential: $0, number: credentialCount) }
    failure = nil
  }

  /// A request is about to be sent: it waits if others do already.
  mutating func admit(_ waiter: Waiter) -> Admission {
    if refresh?.holdsAdapts == true {
      waiters.append(waiter)
      return .waiting
    }
    return current.map { .current($0) } ?? .missing
  }

  /// A request is sent with the credential, so a refusal of it is worth another refresh.
  mutating func clearFailure(of credential: Numbered<Credential>) {
    if current?.number == credential.number { failure = nil }
  }

  /// Somebody needs another credential than this one: before a request is sent, or after it was refused.
  mutating func join(
    _ waiter: Waiter, isAdapt: Bool, after credential: Numbered<Credential>, now: TimeInterval
  ) -> Joining {
    guard current?.number == credential.number else { return .outdated }
    if refresh != nil {
      hold(waiter, isAdapt: isAdapt)
      return .waiting
    }
    // Only a refusal: a credential that requires a refresh couldn't be used again otherwise.
    if let failure, !isAdapt { return .refused(failure) }
    guard mayBeginRefresh(now: now) else { return .refused(AuthenticationError.excessiveRefresh) }
    refreshCount += 1
    refresh = Refresh(number: refreshCount, credentialNumber: credential.number)
    hold(waiter, isAdapt: isAdapt)
    return .begin(refreshCount)
  }

  /// The refresh of that number has ended; returns who waits for it, nobody if it had ended before.
  mutating func finishRefresh(_ number: Int, _ result: Result<Credential, any Error>) -> [Waiter] {
    guard let ended = refresh, ended.number == number else { return [] }
    refresh = nil
    switch result {
    case .success(let credential): replaceCredential(credential)
    case .failure(let error):
      if ended.holdsRetries && ended.credentialNumber == credentialCount { failure = error }
    }
    let waiting = waiters
    waiters = []
    return waiting
  }

  private mutating func hold(_ waiter: Waiter, isAdapt: Bool) {
    waiters.append(waiter)
    if isAdapt { refresh?.holdsAdapts = true } else { refresh?.holdsRetries = true }
  }

  private mutating func mayBeginRefresh(now: TimeInterval) -> Bool {
    guard let window else { return true }
    beginnings.removeAll { $0 < now - window.interval }
    guard beginnings.count < window.attemptsMax else { return false }
    beginnings.append(now)
    return true
  }
}
