// UnmatchedRequest: the error of a request that no rule answers, with the rules that come nearest.

public import Foundation

/// No rule answers a request. The description lists the rules that come nearest, with the conditions that don't hold.
public struct UnmatchedRequest: LocalizedError, CustomStringConvertible, Sendable {
  /// The request.
  public let request: RecordedRequest
  /// The rules that come nearest, each with the conditions that don't hold; those with the fewest first.
  public let nearMatches: [String]

  /// The number of rules that are listed.
  private static let nearMatchesMax = 3

  init(_ request: RecordedRequest, patterns: [RequestPattern]) {
    self.request = request
    let unmet = patterns.map { (pattern: $0, unmet: $0.unmet(by: request)) }
    // `sorted` isn't stable, so the order of the rules decides among equals.
    nearMatches = unmet.enumerated()
      .sorted { ($0.element.unmet.count, $0.offset) < ($1.element.unmet.count, $1.offset) }
      .prefix(Self.nearMatchesMax)
      .map { "\($0.element.pattern), but not \($0.element.unmet.joined(separator: ", "))" }
  }

  /// The request and the near matches.
  public var description: String {
    let start = "No stub answers \(request)."
    return nearMatches.isEmpty
      ? "\(start) There are no rules. Add one."
      : "\(start) The nearest rules:\n- " + nearMatches.joined(separator: "\n- ")
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
