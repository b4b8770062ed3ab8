// Starting a thread. The function is nonisolated, so that the body never inherits an actor from where it is written.

internal import CLupineLinux
internal import Glibc

/// Operating system threads.
package enum Thread {
  /// Starts a detached thread with a name of up to 15 bytes.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let box = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    // SAFETY: the retained box is taken over by the thread, or released here if none was started.
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = lupine_set_thread_name(String(start.name.prefix(15)))
        start.body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
  }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
