// Unrelated: code without Lupine that logs.

import Logging

/// Returns the level of a new logger.
public func level() -> String { Logger(label: "test").logLevel.rawValue }
