public struct Weather: Decodable, Sendable {
  public struct Current: Decodable, Sendable {
    public let temperature: Double

    enum CodingKeys: String, CodingKey {
      case temperature = "temperature_2m"
    }
  }

  public let current: Current
}
