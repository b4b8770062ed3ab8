// KneeSearch: finds the highest rate at which a server meets its objectives. Pure: each trial's outcome gives the next rate.

#if Bench
  /// Searches the highest rate that meets all objectives: doubles the rate until one is missed, and then halves the interval between
  /// the highest rate that met them and the lowest that missed one.
  public struct KneeSearch: Sendable {
    /// The precision of the result: the search ends when the interval is at most 5 % of its lower end.
    public static let precision = 0.05
    /// The most trials of a search: 30, which suffice for a factor of a million at this precision.
    public static let trialsMax = 30

    /// The highest rate that has met all objectives, or nil if none has.
    public private(set) var passed: Double?
    /// The lowest rate that has missed an objective, or nil if none has.
    public private(set) var failed: Double?
    private var trialCount = 0
    /// The rate of the next trial in requests per second, or nil if the search is over.
    public private(set) var next: Double?
    private let first: Double
    private let rateMax: Double

    /// Creates a search from `first` requests per second up to `rateMax`.
    public init(from first: Double, upTo rateMax: Double) {
      precondition(first > 0 && first <= rateMax, "a search begins above 0 and at or below its limit")
      (next, self.first, self.rateMax) = (first, first, rateMax)
    }

    /// Notes whether the trial at the rate `next` met all objectives, and determines the next rate.
    public mutating func note(meetsObjectives: Bool) {
      guard let rate = next else { return }
      trialCount += 1
      if meetsObjectives { passed = rate } else { failed = rate }
      next = trialCount < Self.trialsMax ? following : nil
    }

    private var following: Double? {
      switch (passed, failed) {
      case (let passed?, nil): passed < rateMax ? min(passed * 2, rateMax) : nil
      // If even the first rate is too high, the search goes down to a 1,000th of it.
      case (nil, let failed?): failed > first / 1_000 ? failed / 2 : nil
      case (let passed?, let failed?): failed - passed > passed * Self.precision ? (passed + failed) / 2 : nil
      case (nil, nil): next
      }
    }
  }
#endif
