// Plain: code that needs no trait of Lupine.

import LupineEngine

/// Creates an engine.
public func makeEngine() throws -> Engine { try Engine() }
