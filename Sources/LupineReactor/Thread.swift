// Starting a thread. The function is nonisolated, so that the body never inherits an actor from where it is written.

internal import CLupineLinux
internal import Glibc

/// Operating system threads.
package enum Thread {
  /// Bytes of a thread's name that Linux keeps: 15; it refuses a longer one (pthread_setname_np(3)).
  private static let nameBytesMax = 15

  /// Starts a detached thread; of its name only as many characters as fit 15 bytes are kept.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var name = name
    while name.utf8.count > nameBytesMax { name.removeLast() }
    let box = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    // SAFETY: the retained box is taken over by the thread, or released here if none was started.
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = lupine_set_thread_name(start.name)
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
