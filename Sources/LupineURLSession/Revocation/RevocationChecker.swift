// RevocationChecker: checks the certificates of a verified chain for revocation, with stapled OCSP responses, OCSP responders and
// revocation lists.

import Foundation
import LupineEngine

/// The reason why a certificate chain has failed the revocation check.
package enum RevocationFailure: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
  /// A certificate of the chain has been revoked. `cause` states the reason and, if known, the date of the revocation.
  case revoked(certificate: String, cause: String)
  /// The check requires a verified OCSP response or revocation list for each certificate, but could obtain none for this one.
  /// `causes` are the reasons.
  case unconfirmed(certificate: String, causes: [String])

  /// A textual description of the failure: the certificate, the cause and the remedy.
  package var description: String {
    switch self {
    case .revoked(let certificate, let cause):
      "\(certificate): \(cause). Don't trust this server until its certificate is replaced."
    case .unconfirmed(let certificate, let causes):
      "it is unknown whether \(certificate) is revoked"
        + (causes.isEmpty
          ? ", because the certificate names no usable responder or revocation list"
          : ": \(causes.joined(separator: "; "))")
        + ". Fix the certificate or its responder, or don't require a positive response."
    }
  }

  package var errorDescription: String? { description }
}

/// A resource that is fetched to check a certificate for revocation: an OCSP response or a revocation list.
package enum RevocationQuery: Sendable, Hashable {
  /// The response of the OCSP responder at `url` to the DER-encoded OCSP request `request`.
  case response(url: String, request: [UInt8])
  /// The certificate revocation list at `url`.
  case list(url: String)
}

/// Checks certificates for revocation. This type contains all decisions, and gets resources and the current time from closures.
struct RevocationChecker: Sendable {
  /// A closure that fetches a resource within the given number of seconds. It blocks the thread until the resource has been
  /// received.
  typealias Fetch = @Sendable (RevocationQuery, _ seconds: Int) throws(RevocationProblem) -> [UInt8]

  let memory: RevocationMemory
  /// A closure that returns the current time in seconds since 1970.
  let clock: @Sendable () -> Int
  let fetch: Fetch

  /// Checks all certificates of a verified chain except for its trust anchor. Returns nil if the chain passes the check, or else
  /// the reason for the failure.
  ///
  /// - Parameters:
  ///   - subjects: The certificates to check, starting with the server's certificate. Each one is paired with its issuer's
  ///     certificate.
  ///   - staple: The DER-encoded OCSP response about the server's certificate that the server sent in the TLS handshake. Nil if it
  ///     sent none.
  ///   - options: The methods of the check, and whether each certificate needs a verified status.
  func failure(
    of subjects: [RevocationSubject], staple: [UInt8]?, options: RevocationOptions
  ) -> RevocationFailure? {
    let deadline = clock() + RevocationLimits.checkSecondsMax
    for (index, subject) in subjects.enumerated() {
      var check = Check(subject: subject, options: options, deadline: deadline, checker: self)
      if let failure = check.run(staple: index == 0 ? staple : nil, isServers: index == 0) { return failure }
    }
    return nil
  }
}

/// The revocation check of one certificate.
private struct Check {
  let subject: RevocationSubject
  let options: RevocationOptions
  let deadline: Int
  let checker: RevocationChecker
  /// The reasons why OCSP responses and revocation lists couldn't be used, in the order of the attempts.
  var causes: [String] = []

  mutating func run(staple: [UInt8]?, isServers: Bool) -> RevocationFailure? {
    // A known revocation counts even if the server staples a good response, which may be older than the revocation, or if the
    // other method comes first, and would find the certificate good.
    if let cause = knownRevocation { return revoked(cause) }
    var stapled: RevocationStatus?
    if options.contains(.ocsp), let staple {
      stapled = note(
        "the stapled response",
        Result { [subject] () throws(RevocationProblem) in
          try subject.status(fromOCSP: staple)
        })
    }
    // The stapled response is used first even if lists are preferred, because it may say that the certificate is revoked.
    if let stapled { remember(stapled, .ocsp) }
    if case .revoked(let cause) = stapled { return revoked(cause) }
    // The certificate requires ("must staple") that the server sends an OCSP response about it (RFC 7633 §4.2.3).
    if isServers, options.contains(.ocsp), stapled == nil, subject.requiresStaple {
      return .unconfirmed(
        certificate: subject.name, causes: causes + ["it requires a stapled response (RFC 7633)"])
    }
    for method in methods {
      if method == .ocsp, stapled != nil { return nil }
      switch status(by: method) {
      case .good: return nil
      case .revoked(let cause): return revoked(cause)
      case nil: continue
      }
    }
    return options.contains(.requiresAnswer) ? .unconfirmed(certificate: subject.name, causes: causes) : nil
  }

  /// The methods (OCSP responders or revocation lists) that the options permit, starting with the preferred one.
  private var methods: [RevocationMemory.Method] {
    let methods: [RevocationMemory.Method] = options.contains(.prefersLists) ? [.list, .ocsp] : [.ocsp, .list]
    return methods.filter { options.contains($0 == .ocsp ? .ocsp : .lists) }
  }

  /// The cause of the revocation of the certificate according to a cached status, or nil if no cached status reports one.
  private var knownRevocation: String? {
    for method in methods {
      let known = checker.memory.status(of: subject, by: method, now: checker.clock())
      if case .revoked(let cause) = known { return cause }
    }
    return nil
  }

  private mutating func status(by method: RevocationMemory.Method) -> RevocationStatus? {
    if let known = checker.memory.status(of: subject, by: method, now: checker.clock()) { return known }
    guard !options.contains(.isOffline) else { return nil }
    for url in method == .ocsp ? subject.responders : subject.distributionPoints {
      let answer = method == .ocsp ? ask(url) : read(url)
      guard let status = note(url, answer) else { continue }
      remember(status, method)
      return status
    }
    return nil
  }

  private func ask(_ url: String) -> Result<RevocationStatus, RevocationProblem> {
    Result { () throws(RevocationProblem) in
      guard let request = subject.ocspRequest() else { throw RevocationProblem("memory ran out") }
      return try subject.status(
        fromOCSP: checker.fetch(.response(url: url, request: request), seconds()), answering: request)
    }
  }

  private func read(_ url: String) -> Result<RevocationStatus, RevocationProblem> {
    Result { () throws(RevocationProblem) in
      try subject.status(fromList: checker.fetch(.list(url: url), seconds()))
    }
  }

  /// Returns the time limit of the next fetch in seconds. Throws a `RevocationProblem` if the time limit of the whole check has
  /// passed.
  private func seconds() throws(RevocationProblem) -> Int {
    let left = deadline - checker.clock()
    guard left > 0 else {
      throw RevocationProblem("the check's time limit of \(RevocationLimits.checkSecondsMax) s has passed")
    }
    return min(left, RevocationLimits.fetchSecondsMax)
  }

  /// Returns the certificate's status if `answer` is a success. Otherwise, adds the name of the source and the failure to `causes`,
  /// and returns nil.
  private mutating func note(
    _ source: String, _ answer: Result<RevocationStatus, RevocationProblem>
  ) -> RevocationStatus? {
    switch answer {
    case .success(let status): return status
    case .failure(let problem):
      causes.append("\(source): \(problem.description)")
      return nil
    }
  }

  private func remember(_ status: RevocationStatus, _ method: RevocationMemory.Method) {
    checker.memory.remember(status, of: subject, by: method, now: checker.clock())
  }

  private func revoked(_ cause: String) -> RevocationFailure {
    .revoked(certificate: subject.name, cause: cause)
  }
}
