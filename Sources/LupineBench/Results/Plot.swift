// Plot: a diagram of lines as SVG.

#if Bench
  internal import LupineLibc
  internal import LupineWire

  /// A diagram with lines over a common horizontal axis.
  struct Plot {
    struct Line {
      let name: String
      let color: String
      let points: [(x: Double, y: Double)]
    }

    /// How a value becomes a position on an axis.
    enum Scale {
      case linear
      /// Powers of ten. Values of 0 or less are drawn at the lower end.
      case logarithmic
    }

    let title: String
    let lines: [Line]
    var xScale = Scale.linear
    var yScale = Scale.linear
    /// The labels of values on the axes. By default, the horizontal axis is the time in seconds.
    var xText: (Double) -> String = { "\($0.text(0)) s" }
    var yText: (Double) -> String = { $0.text(0) }
    /// The ticks of the horizontal axis, or nil to choose round numbers.
    var xTicks: [Double]?

    private static let (width, height) = (860.0, 280.0)
    private static let margins = (left: 74.0, right: 36.0, top: 16.0, bottom: 34.0)

    /// The diagram as an SVG element with its title and legend above it, in HTML. Empty if the lines have no points.
    var html: String {
      let points = lines.flatMap(\.points)
      guard !points.isEmpty else { return "" }
      let (x, y) = (axis(points.map(\.x), xScale), axis(points.map(\.y), yScale, from: yScale == .linear ? 0 : nil))
      let legend = lines.map { "<span style=\"color:\($0.color)\">&#9632; \($0.name.xmlEscaped)</span>" }
      var svg = "<h2>\(title.xmlEscaped)</h2>\n<p class=\"legend\">\(legend.joined(separator: " "))</p>\n"
      svg +=
        "<svg viewBox=\"0 0 \(Self.width.text(0)) \(Self.height.text(0))\" role=\"img\" aria-label=\"\(title.xmlEscaped)\">\n"
      for tick in y.ticks {
        let at = vertical(tick, y)
        svg +=
          "<line class=\"grid\" x1=\"\(Self.margins.left.text(1))\" x2=\"\((Self.width - Self.margins.right).text(1))\" "
        svg += "y1=\"\(at.text(1))\" y2=\"\(at.text(1))\"/>"
        svg += "<text x=\"\((Self.margins.left - 6).text(1))\" y=\"\((at + 4).text(1))\" text-anchor=\"end\">"
        svg += "\(yText(tick).xmlEscaped)</text>\n"
      }
      for tick in xTicks?.filter({ x.range.contains($0) }) ?? x.ticks {
        let at = horizontal(tick, x)
        svg +=
          "<text x=\"\(at.text(1))\" y=\"\((Self.height - 12).text(1))\" text-anchor=\"middle\">\(xText(tick).xmlEscaped)</text>\n"
      }
      for line in lines {
        let path = line.points.map { "\(horizontal($0.x, x).text(1)),\(vertical($0.y, y).text(1))" }.joined(
          separator: " ")
        svg += "<polyline fill=\"none\" stroke=\"\(line.color)\" stroke-width=\"1.5\" points=\"\(path)\"/>\n"
      }
      return svg + "</svg>\n"
    }

    // MARK: Axes

    private struct Axis {
      let scale: Scale
      let range: ClosedRange<Double>
      let ticks: [Double]

      /// The position of a value, from 0 to 1.
      func share(_ value: Double) -> Double {
        switch scale {
        case .linear: (value - range.lowerBound) / (range.upperBound - range.lowerBound)
        case .logarithmic:
          (log10(max(value, range.lowerBound)) - log10(range.lowerBound))
            / (log10(range.upperBound) - log10(range.lowerBound))
        }
      }
    }

    private func axis(_ values: [Double], _ scale: Scale, from start: Double? = nil) -> Axis {
      switch scale {
      case .linear:
        let low = start ?? values.min() ?? 0
        let high = max(values.max() ?? 1, low + 1e-9)
        // At least 1, because the labels are whole numbers.
        let step = max(1, Self.roundStep((high - low) / 5))
        let top = start == nil ? high : (high / step).rounded(.up) * step
        let first = (low / step).rounded(.up)
        let ticks = (0...12).map { (first + Double($0)) * step }.filter { $0 <= top + step * 1e-9 }
        return Axis(scale: scale, range: low...top, ticks: ticks)
      case .logarithmic:
        let positive = values.filter { $0 > 0 }
        let (low, high) = (floor(log10(positive.min() ?? 1)), ceil(log10(positive.max() ?? 10)))
        let exponents = Int(low)...Int(max(high, low + 1))
        return Axis(
          scale: scale, range: pow(10, Double(exponents.lowerBound))...pow(10, Double(exponents.upperBound)),
          ticks: exponents.map { pow(10, Double($0)) })
      }
    }

    /// The smallest of 1, 2 and 5 times a power of ten that isn't below the step.
    private static func roundStep(_ step: Double) -> Double {
      let power = pow(10, floor(log10(step)))
      return [1, 2, 5, 10].map { $0 * power }.first { $0 >= step * 0.999_999 } ?? 10 * power
    }

    private func horizontal(_ value: Double, _ axis: Axis) -> Double {
      Self.margins.left + axis.share(value) * (Self.width - Self.margins.left - Self.margins.right)
    }

    private func vertical(_ value: Double, _ axis: Axis) -> Double {
      Self.height - Self.margins.bottom - axis.share(value) * (Self.height - Self.margins.top - Self.margins.bottom)
    }
  }
#endif
