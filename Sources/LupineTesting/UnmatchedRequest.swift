// UnmatchedRequest: the error of a request that no rule answers, with the rules that nearly match.

public import Foundation

/// The error of a request that no rule of ``Stubs`` answers. The description lists the rules that nearly match, with the conditions
/// that the request doesn't meet.
public struct UnmatchedRequest: LocalizedError, CustomStringConvertible, Sendable {
  /// The request that no rule answers.
  public let request: RecordedRequest
  /// Descriptions of the rules that nearly match, each with the conditions that the request doesn't meet. The rule with the fewest
  /// such conditions is first.
  public let nearMatches: [String]

  /// The maximum number of rules in `nearMatches`: 3.
  private static let nearMatchesMax = 3

  init(_ request: RecordedRequest, patterns: [RequestPattern]) {
    self.request = request
    let unmet = patterns.map { (pattern: $0, unmet: $0.unmet(by: request)) }
    // `sorted` isn't stable, so rules with equal numbers of conditions are ordered by position.
    nearMatches = unmet.enumerated()
      .sorted { ($0.element.unmet.count, $0.offset) < ($1.element.unmet.count, $1.offset) }
      .prefix(Self.nearMatchesMax)
      .map { "\($0.element.pattern), but not \($0.element.unmet.joined(separator: ", "))" }
  }

  /// A message that names the request, and the rules that nearly match with the conditions that the request doesn't meet.
  public var description: String {
    let start = "No stub answers \(request)."
    return nearMatches.isEmpty
      ? "\(start) There are no rules. Add one."
      : "\(start) The rules that nearly match:\n- " + nearMatches.joined(separator: "\n- ")
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
