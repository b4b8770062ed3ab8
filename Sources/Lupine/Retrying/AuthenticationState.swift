// `AuthenticationState`: the state and decisions of an authentication interceptor. It has no side effects. The interceptor acts
// on the decisions outside its lock.

import Foundation
import LupineURLSession

/// A credential with a unique number, which distinguishes it from earlier credentials with the same value.
struct Numbered<Credential: Sendable>: Sendable {
  let credential: Credential
  let number: Int
}

/// The state of an authentication interceptor: the current credential, the running refresh with the requests that wait for it, and
/// the times of earlier refreshes.
struct AuthenticationState<Credential: Sendable>: Sendable {
  /// A request that waits for a refresh.
  enum Waiter: Sendable {
    /// The request hasn't been sent yet.
    case adapt(URLRequest, Session, @Sendable (Result<URLRequest, any Error>) -> Void)
    /// A server has rejected the request's credential.
    case retry(@Sendable (RetryResult) -> Void)
  }

  enum Admission {
    case missing
    case waiting
    /// No unsent request waits for a refresh, so the request gets the current credential. The caller checks whether the credential
    /// must be refreshed.
    case current(Numbered<Credential>)
  }

  enum Joining {
    /// The request was added to the waiters of a new refresh. The caller must begin this refresh, which has the given number.
    case begin(Int)
    case waiting
    case refused(any Error)
    /// The credential has been replaced in the meantime, so a refresh may not be necessary.
    case outdated
  }

  private struct Refresh {
    let number: Int
    /// The number of the credential that was current when the refresh began.
    let credentialNumber: Int
    /// Whether unsent requests wait for this refresh. If so, further unsent requests wait too.
    var holdsAdapts = false
    /// Whether requests whose credential a server has rejected wait for this refresh.
    var holdsRetries = false
  }

  private(set) var current: Numbered<Credential>?
  private var credentialCount = 0
  private var refreshCount = 0
  private var refresh: Refresh?
  /// The error of a failed refresh that followed a server's rejection of the current credential. Nil if there was no such refresh.
  private var failure: (any Error)?
  private var waiters: [Waiter] = []

  /// The limit on refreshes: the length of the interval in seconds, and the maximum number of refreshes that may begin in the
  /// interval. If nil, refreshes aren't limited.
  private let window: (interval: TimeInterval, attemptsMax: Int)?
  /// The times, in seconds, at which the refreshes within the current interval began.
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

  /// Decides whether the request `waiter` can be sent. If other unsent requests already wait for a refresh, the request waits too.
  /// Otherwise returns the current credential, or `.missing` if there is none.
  mutating func admit(_ waiter: Waiter) -> Admission {
    if refresh?.holdsAdapts == true {
      waiters.append(waiter)
      return .waiting
    }
    return current.map { .current($0) } ?? .missing
  }

  /// Clears the error of the last refresh, because another request is being sent with `credential`. If the server rejects that
  /// request, another refresh is justified.
  mutating func clearFailure(of credential: Numbered<Credential>) {
    if current?.number == credential.number { failure = nil }
  }

  /// Makes the request `waiter` wait until `credential` has been refreshed, unless no refresh is running or may begin. `now` is the
  /// time in seconds.
  mutating func join(_ waiter: Waiter, after credential: Numbered<Credential>, now: TimeInterval) -> Joining {
    guard current?.number == credential.number else { return .outdated }
    if refresh != nil {
      hold(waiter)
      return .waiting
    }
    // An earlier failure applies only to rejected requests. If it applied to unsent requests too, an expired credential could
    // never be refreshed.
    if let failure, case .retry = waiter { return .refused(failure) }
    guard mayBeginRefresh(now: now) else { return .refused(AuthenticationError.excessiveRefresh) }
    refreshCount += 1
    refresh = Refresh(number: refreshCount, credentialNumber: credential.number)
    hold(waiter)
    return .begin(refreshCount)
  }

  /// Ends the refresh with this number, and returns the requests that waited for it. If that refresh had already ended, returns an
  /// empty array.
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

  private mutating func hold(_ waiter: Waiter) {
    waiters.append(waiter)
    switch waiter {
    case .adapt: refresh?.holdsAdapts = true
    case .retry: refresh?.holdsRetries = true
    }
  }

  private mutating func mayBeginRefresh(now: TimeInterval) -> Bool {
    guard let window else { return true }
    beginnings.removeAll { $0 < now - window.interval }
    guard beginnings.count < window.attemptsMax else { return false }
    beginnings.append(now)
    return true
  }
}
