package struct Weather: Decodable, Sendable {
  package struct Current: Decodable, Sendable {
    package let temperature: Double

    enum CodingKeys: String, CodingKey {
      case temperature = "temperature_2m"
    }
  }

  package let current: Current
}
