// AsyncForm: calls the async forms of delegate methods, and remembers which classes of delegates lack them.

import Foundation
import Synchronization

/// A method of the delegate protocols that a delegate can implement in two forms: with a completion handler, or as an async method.
///
/// The completion form's default implementation calls the async form. Only a call shows whether a delegate implements the async form
/// itself: its default implementation notes that the delegate's class has neither form. Later calls of the completion form for that
/// class give the default answer without a Swift task.
enum AsyncForm: UInt8 {
  case sessionChallenge, taskChallenge, redirect, bodyStream, delayedRequest, response, caching

  /// A call of an async form by the completion form's default implementation.
  private final class Call: Sendable {
    let form: AsyncForm
    let delegate: ObjectIdentifier
    let hasReachedDefault = Atomic(false)

    init(_ form: AsyncForm, of delegate: any URLSessionDelegate) {
      self.form = form
      self.delegate = ObjectIdentifier(delegate)
    }
  }

  /// The call in which the current Swift task runs, or nil if there is none.
  @TaskLocal private static var call: Call?

  /// For each class whose delegates have neither form of some methods, the `bit`s of these methods.
  private static let missingForms = Mutex<[ObjectIdentifier: UInt8]>([:])

  fileprivate var bit: UInt8 { 1 << rawValue }

  fileprivate func isMissing(in type: any URLSessionDelegate.Type) -> Bool {
    Self.missingForms.withLock { $0[ObjectIdentifier(type)].map { $0 & bit != 0 } ?? false }
  }

  /// Calls `delegate`'s async form with `ask`, in a Swift task that begins on the caller's thread. Passes the answer to
  /// `completion`, or calls `passOn` if the delegate doesn't implement the form.
  func call<Answer: Sendable>(
    of delegate: any URLSessionDelegate, orElse passOn: @escaping @Sendable () -> Void,
    completion: @escaping @Sendable (Answer) -> Void, _ ask: @escaping @Sendable () async -> Answer
  ) {
    Task.immediate {
      let call = Call(self, of: delegate)
      let answer = await Self.$call.withValue(call) { await ask() }
      if call.hasReachedDefault.load(ordering: .relaxed) { passOn() } else { completion(answer) }
    }
  }

  /// Returns whether the async form's default implementation, which calls this method, runs because of
  /// `call(of:orElse:completion:_:)`. In that case the answer of the default implementation is ignored, and the delegate's class
  /// has neither form.
  ///
  /// Otherwise the program has called the async form. `delegate` may then implement the completion form.
  func reachesDefault(of delegate: any URLSessionDelegate, in session: URLSession) -> Bool {
    guard let call = Self.call, call.form == self, call.delegate == ObjectIdentifier(delegate) else { return false }
    call.hasReachedDefault.store(true, ordering: .relaxed)
    Self.missingForms.withLock { $0[ObjectIdentifier(type(of: delegate)), default: 0] |= bit }
    session.ownDelegates(delegate)?.noteMissing(self)
    return true
  }
}

extension URLSession {
  /// Returns whether `delegate` is known to implement neither form of a method.
  func lacks(_ form: AsyncForm, _ delegate: any URLSessionDelegate) -> Bool {
    let own = ownDelegates(delegate)
    if let own, own.lacks(form) { return true }
    guard form.isMissing(in: type(of: delegate)) else { return false }
    own?.noteMissing(form)
    return true
  }

  /// The session's delegates if `delegate` is the session's delegate, or nil if it is another object, such as the delegate of a task.
  fileprivate func ownDelegates(_ delegate: any URLSessionDelegate) -> Delegates? {
    delegates.flatMap { $0.session === delegate ? $0 : nil }
  }
}

extension URLSession.Delegates {
  /// Returns whether a call has shown that the session's delegate implements neither form of a method.
  func lacks(_ form: AsyncForm) -> Bool { missingForms.load(ordering: .relaxed) & form.bit != 0 }

  fileprivate func noteMissing(_ form: AsyncForm) { missingForms.bitwiseOr(form.bit, ordering: .relaxed) }
}
