import Lupine

package struct MeteoClient: Sendable {
  private let session: Session

  package init(session: Session) {
    self.session = session
  }

  package func weather(latitude: Double, longitude: Double) async throws -> Weather {
    let parameters = ["latitude": "\(latitude)", "longitude": "\(longitude)", "current": "temperature_2m"]
    return try await session.request("https://api.open-meteo.com/v1/forecast", parameters: parameters)
      .serializingDecodable(Weather.self)
      .value
  }
}
