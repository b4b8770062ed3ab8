// DemoCodeTests: the demo displays the code that it runs.

import Testing

@Suite struct DemoCodeTests {
  /// A step of the demo's tour in Tour.swift: the lines of code that the demo displays, and the lines that it runs.
  private struct ShownStep {
    var shown: [String] = []
    var run: [String] = []
  }

  private static func steps(in file: SourceFile) -> [ShownStep] {
    enum Place { case outside, shown, between, run }
    var steps: [ShownStep] = []
    var place = Place.outside
    for line in file.lines {
      let text = line.trimmingPrefix { $0 == " " }
      switch place {
      case .outside where text == "code: \"\"\"":
        steps.append(ShownStep())
        place = .shown
      case .shown where text == "\"\"\"": place = .between
      case .shown: steps[steps.count - 1].shown.append(String(text).replacing("\\\\(", with: "\\("))
      case .between where text == ") { stage in": place = .run
      case .run where text == "},": place = .outside
      case .run: steps[steps.count - 1].run.append(String(text))
      case .outside, .between: break
      }
    }
    return steps
  }

  @Test("the source code that the demo displays for each step is the code that the demo runs")
  func shownCodeRuns() throws {
    let file = try #require(SourceTree.sources.first { $0.path == "Sources/LupineDemo/Tour.swift" })
    let steps = Self.steps(in: file)
    #expect(steps.count == 12)
    for step in steps {
      #expect(!step.shown.isEmpty)
      #expect(Array(step.run.prefix(step.shown.count)) == step.shown)
    }
  }
}
