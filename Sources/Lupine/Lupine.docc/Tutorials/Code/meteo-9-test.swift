import Lupine
import LupineTesting
import Testing

@testable import Meteo

struct MeteoClientTests {
  @Test("the client asks for the temperature at a place")
  func temperature() async throws {
    let stubs = Stubs()
    let place = RequestPattern.get("/v1/forecast").query("latitude", "47.37")
    stubs.reply(to: place, with: .json(#"{"current": {"temperature_2m": 8.5}}"#))
    let client = MeteoClient(session: Session(configuration: stubs.configuration(from: .af.ephemeral)))

    let weather = try await client.weather(latitude: 47.37, longitude: 8.54)

    #expect(weather.current.temperature == 8.5)
    #expect(stubs.requests.count == 1)
  }

  @Test("a request that fails with 503 is sent again")
  func retry() async throws {
    let stubs = Stubs()
    stubs.reply(to: .get("/v1/forecast"), with: .status(503), .json(#"{"current": {"temperature_2m": 8.5}}"#))
    let session = Session(
      configuration: stubs.configuration(from: .af.ephemeral),
      interceptor: .retryPolicy(exponentialBackoffScale: 0.001))

    let weather = try await MeteoClient(session: session).weather(latitude: 0, longitude: 0)

    #expect(weather.current.temperature == 8.5)
    #expect(stubs.requests.count == 2)
  }
}
