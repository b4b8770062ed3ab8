// StreamRequest: a request that opens a TCP connection.

import LupineURLSession

// Unchecked because the superclass is. All state is constant.
/// A request whose task is a `URLSessionStreamTask`, with which the program reads from and writes to a TCP connection.
open class StreamRequest: Request, @unchecked Sendable {}
