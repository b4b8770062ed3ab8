// Waiting for what no event tells.

/// Whether the condition comes to hold while other threads run; they need a moment after a session's end.
func settles(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(20)
  while ContinuousClock.now < deadline {
    if condition() { return true }
    await Task.yield()
  }
  return condition()
}
