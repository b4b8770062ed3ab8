// ArrivalScheduleTests: the times at which requests are due.

#if Bench
  import Testing

  @testable import LupineBench

  @Suite struct ArrivalScheduleTests {
    private func times(_ stages: [RateStage], _ spacing: Spacing = .even) -> [Double] {
      var schedule = ArrivalSchedule(stages, spacing: spacing)
      var times: [Double] = []
      while let time = schedule.next() { times.append(time / .seconds(1)) }
      return times
    }

    @Test("a constant rate with even spacing gives equal distances from the start on")
    func constant() {
      let times = times([RateStage(duration: .seconds(2), rate: 50)])
      #expect(times.count == 100)
      for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 50) < 1e-8) }
    }

    @Test("a stage changes the rate linearly from the previous stage's rate")
    func ramp() {
      let times = times([RateStage(duration: .seconds(1), rate: 100), RateStage(duration: .seconds(10), rate: 300)])
      // 100 requests in the first second, and the mean rate of 200 in the ten seconds of the ramp.
      #expect(times.count == 2_100)
      #expect(times.filter { $0 < 1 }.count == 100)
      // In the first half of the ramp, the mean rate is 150.
      #expect(times.filter { $0 >= 1 && $0 < 6 - 1e-9 }.count == 750)
      #expect(times == times.sorted())
    }

    @Test("a stage with the rate 0 sends nothing, and a load can fade out and begin again")
    func silence() {
      let times = times([
        RateStage(duration: .seconds(1), rate: 10), RateStage(duration: .milliseconds(1), rate: 0),
        RateStage(duration: .seconds(3), rate: 0), RateStage(duration: .seconds(2), rate: 10),
      ])
      #expect(times.filter { $0 > 1.002 && $0 < 4.001 }.isEmpty)
      // From 0 to 10 per second in 2 s: 10 requests.
      #expect(times.filter { $0 >= 4.001 }.count == 10)
      #expect(ArrivalSchedule([RateStage(duration: .seconds(1), rate: 0)], spacing: .even).duration == .seconds(1))
    }

    @Test("the distances of a Poisson process have its mean and its variance, and depend on the seed only")
    func poisson() {
      let stages = [RateStage(duration: .seconds(1_000), rate: 100)]
      let times = times(stages, .poisson(seed: 7))
      #expect(times == self.times(stages, .poisson(seed: 7)))
      #expect(times != self.times(stages, .poisson(seed: 8)))
      let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
      let moments = Moments(gaps)
      // The standard deviation of the mean of 100,000 gaps is 0.3 %; the variance's is 0.9 %.
      #expect(abs(moments.mean * 100 - 1) < 0.015)
      #expect(abs(moments.variance * 10_000 - 1) < 0.045)
    }

    @Test("the rate at a time is that of the stage, and 0 after the end")
    func rateAtTime() {
      let schedule = ArrivalSchedule(
        [RateStage(duration: .seconds(10), rate: 100), RateStage(duration: .seconds(10), rate: 200)], spacing: .even)
      #expect(schedule.rate(at: .seconds(5)) == 100)
      #expect(abs(schedule.rate(at: .seconds(15)) - 150) < 1e-9)
      #expect(schedule.rate(at: .seconds(20)) == 0)
    }

    @Test("scenarios get arrivals in the ratio of their weights, evenly interleaved")
    func weights() {
      var rotation = ScenarioRotation(weights: [3, 1])
      #expect((0..<8).map { _ in rotation.next().scenario } == [0, 0, 1, 0, 0, 0, 1, 0])
      rotation = ScenarioRotation(weights: [5, 3, 2])
      var counts = [0, 0, 0]
      for _ in 0..<1_000 { counts[rotation.next().scenario] += 1 }
      #expect(counts == [500, 300, 200])
    }

    @Test("each scenario counts its own arrivals, so that it uses all of its requests in turn")
    func numbers() {
      var rotation = ScenarioRotation(weights: [1, 1])
      let turns = (0..<6).map { _ in rotation.next() }
      #expect(turns.map(\.scenario) == [0, 1, 0, 1, 0, 1])
      #expect(turns.map(\.number) == [0, 0, 1, 1, 2, 2])
    }
  }
#endif
