// RateStage: a part of an open-loop load, during which the rate changes linearly.

#if Bench
  /// A part of a load with a constant or a linearly changing rate.
  ///
  /// The rate begins at the end rate of the previous stage. A load's first stage begins at its own rate, so that a single stage has
  /// a constant rate.
  public struct RateStage: Sendable, Hashable {
    /// The length of the stage, more than zero.
    public var duration: Duration
    /// The rate at the end of the stage in requests per second, at least 0.
    public var rate: Double

    /// Creates a stage. Traps if the duration isn't more than zero, or if the rate is negative or not finite.
    public init(duration: Duration, rate: Double) {
      precondition(duration > .zero, "a stage needs a duration")
      precondition(rate >= 0 && rate.isFinite, "a stage's rate is a finite number of at least 0")
      self.duration = duration
      self.rate = rate
    }
  }

  /// The distances between the requests of an open-loop load.
  public enum Spacing: Sendable, Hashable {
    /// Equal distances while the rate is constant. Exact, but it can hide effects of requests that arrive together.
    case even
    /// Random distances, as if many independent users sent the requests: a Poisson process. The same seed gives the same times.
    case poisson(seed: UInt64)
  }
#endif
