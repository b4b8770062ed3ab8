// Life: code that needs Lupine's trait Services.

import LupineEngine
import LupineServices

/// Runs the service of an engine in a task that is cancelled at once. Returns the default time limit of a connection.
public func runService(of engine: Engine) async -> Duration? {
  let service = Task { await EngineService(engine).run() }
  service.cancel()
  await service.value
  return ClientSettings().timeouts.connect
}
