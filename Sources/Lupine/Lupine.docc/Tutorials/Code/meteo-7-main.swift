import Foundation
import Lupine
import Meteo

let client = MeteoClient(session: .meteo())
do {
  let weather = try await client.weather(latitude: 47.37, longitude: 8.54)
  print("\(weather.current.temperature) °C")
} catch {
  print("no weather: \(error.localizedDescription)")
  exit(1)
}
