// Picture: draws the samples of a soak over time, as SVG.

import Foundation

/// An SVG picture with a diagram for each measured value of a soak test, one below the other.
struct Picture {
  private struct Diagram {
    let name: String
    let curves: [(name: String, colour: String, path: KeyPath<Sample, Double>)]
  }

  private static var diagrams: [Diagram] {
    [
      Diagram(name: "resident memory, MiB", curves: [("", "#1f77b4", \.residentMiB)]),
      Diagram(
        name: "descriptors, threads",
        curves: [("descriptors", "#d62728", \.descriptors), ("threads", "#8c564b", \.threads)]),
      Diagram(
        name: "latency, ms", curves: [("median", "#2ca02c", \.median), ("99 %", "#ff7f0e", \.ninetyNinth)]),
      Diagram(name: "requests per second", curves: [("", "#9467bd", \.requestsPerSecond)]),
    ]
  }
  private static let (width, height, margin, gap) = (900.0, 160.0, 60.0, 40.0)

  private let samples: [Sample]
  private let warmUp: Double
  private let title: String

  init(_ samples: [Sample], warmUp: Double, title: String) {
    self.samples = samples
    self.warmUp = warmUp
    self.title = title
  }

  /// The text of the SVG document.
  var text: String {
    let total = Self.margin + Double(Self.diagrams.count) * (Self.height + Self.gap)
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(Self.width + 2 * Self.margin))\" height=\"\(Int(total))\" "
        + "font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      label(title, Self.margin, 24, size: 15),
    ]
    for (index, diagram) in Self.diagrams.enumerated() {
      lines += draw(diagram, top: Self.margin + Double(index) * (Self.height + Self.gap))
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private func draw(_ diagram: Diagram, top: Double) -> [String] {
    let end = max(samples.last?.time ?? 1, 1)
    let highest = diagram.curves.flatMap { curve in samples.map { $0[keyPath: curve.path] } }.max() ?? 1
    let scale = max(highest, 1) * 1.1
    let bottom = top + Self.height
    let x = { (time: Double) in Self.margin + time / end * Self.width }
    var lines = [
      rectangle(top, width: x(warmUp) - Self.margin, "fill=\"#eee\""),
      rectangle(top, width: Self.width, "fill=\"none\" stroke=\"#999\""),
      label(diagram.name, Self.margin, top - 6),
      label(number(scale), 4, top + 10),
      label("0", 4, bottom),
      label("\(number(end)) s", Self.margin + Self.width - 30, bottom + 14),
    ]
    for (index, curve) in diagram.curves.enumerated() {
      let points = samples.map { sample in
        "\(number(x(sample.time))),\(number(bottom - sample[keyPath: curve.path] / scale * Self.height))"
      }
      lines.append("<polyline fill=\"none\" stroke=\"\(curve.colour)\" points=\"\(points.joined(separator: " "))\"/>")
      if !curve.name.isEmpty {
        let place = Self.margin + Self.width - 180 + 90 * Double(index)
        lines.append(label(curve.name, place, top - 6, colour: curve.colour))
      }
    }
    return lines
  }

  private func rectangle(_ top: Double, width: Double, _ look: String) -> String {
    "<rect x=\"\(Self.margin)\" y=\"\(top)\" width=\"\(width)\" height=\"\(Self.height)\" \(look)/>"
  }

  private func label(_ text: String, _ x: Double, _ y: Double, size: Int = 12, colour: String = "black") -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\" fill=\"\(colour)\">\(text)</text>"
  }

  private func number(_ value: Double) -> String { String(format: value < 10 ? "%.1f" : "%.0f", value) }
}
