// ArrivalSchedule: the times at which the requests of an open-loop load are due. Pure: no clock, no I/O.

#if Bench
  internal import LupineLibc
  internal import LupineRandom

  /// Returns the times at which requests are due, as distances from the load's start, in order.
  ///
  /// The number of requests that are due until the time t is the integral of the rate from 0 to t. The schedule inverts that
  /// integral: at its integers for even spacing, and at the sums of exponentially distributed numbers with the mean 1 for a Poisson
  /// process, which remains one under this change of time.
  struct ArrivalSchedule {
    private struct Piece {
      let start: Double
      let seconds: Double
      let rates: (first: Double, last: Double)
      /// The integral of the rate at the start of the piece.
      let countBefore: Double

      var count: Double { (rates.first + rates.last) / 2 * seconds }
    }

    private let pieces: [Piece]
    private var index = 0
    /// The value of the integral at which the next request is due.
    private var position: Double
    private var random: SplitMix64?

    init(_ stages: [RateStage], spacing: Spacing) {
      var pieces: [Piece] = []
      var (start, count, rate) = (0.0, 0.0, stages.first?.rate ?? 0)
      for stage in stages {
        let piece = Piece(
          start: start, seconds: stage.duration / .seconds(1), rates: (rate, stage.rate), countBefore: count)
        pieces.append(piece)
        (start, count, rate) = (start + piece.seconds, count + piece.count, stage.rate)
      }
      self.pieces = pieces
      switch spacing {
      case .even: (random, position) = (nil, 0)
      case .poisson(let seed):
        (random, position) = (SplitMix64(seed: seed), 0)
        position = advance()
      }
    }

    /// The sum of the stages' durations.
    var duration: Duration { .seconds(pieces.last.map { $0.start + $0.seconds } ?? 0) }

    /// The rate at a time after the start, in requests per second. 0 after the end.
    func rate(at time: Duration) -> Double {
      let seconds = time / .seconds(1)
      guard let piece = pieces.first(where: { seconds < $0.start + $0.seconds }) else { return 0 }
      return piece.rates.first + (piece.rates.last - piece.rates.first) * (seconds - piece.start) / piece.seconds
    }

    /// Returns when the next request is due, or nil if no more are due before the end.
    mutating func next() -> Duration? {
      while index < pieces.count {
        let piece = pieces[index]
        let rest = position - piece.countBefore
        // A stage with the rate 0 has a count of 0, so it is skipped here.
        if rest < piece.count {
          position += advance()
          return .nanoseconds(Int64((piece.start + Self.time(of: rest, in: piece)) * 1e9))
        }
        index += 1
      }
      return nil
    }

    /// Returns the time within the piece at which the integral reaches `count`: the root of `first·t + slope·t²/2 = count`.
    private static func time(of count: Double, in piece: Piece) -> Double {
      let (first, slope) = (piece.rates.first, (piece.rates.last - piece.rates.first) / piece.seconds)
      guard count > 0 else { return 0 }
      // This form of the root has no cancellation, and is also right for a slope of 0.
      return 2 * count / (first + (first * first + 2 * slope * count).squareRoot())
    }

    private mutating func advance() -> Double {
      guard random != nil else { return 1 }
      // The generator's 53 high bits give a number in (0, 1], whose logarithm is finite.
      let uniform = Double((random?.next() ?? 0) >> 11 + 1) * 0x1p-53
      return -log(uniform)
    }
  }
#endif
