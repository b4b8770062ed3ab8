// Stands in for the session of Foundation's networking half until that comes.

public import Foundation

// Unchecked since the class is open; it has no state.
/// A session.
open class URLSession: NSObject, @unchecked Sendable {}
