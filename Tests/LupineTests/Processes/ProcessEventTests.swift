// ProcessEventTests: signals, child programs, clock changes and a stopped process don't disturb requests.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// Each test runs its client in a dedicated process, except the last, which runs the program LupineFaults.
@Suite(.timeLimit(.minutes(10))) struct ProcessEventTests {
  enum Body: String, CaseIterable, Codable, Sendable { case data, file, stream }

  @Test(
    "if a server closes its connection during an upload, the client's process receives no SIGPIPE",
    arguments: Body.allCases,
    [false, true])
  func brokenPipe(body: Body, isSecure: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withOrigin(tls: isSecure ? identity : nil) { peer in
      _ = try peer.readHead()
      _ = try peer.receive()
      // After a reset alone, the client's next write fails with ECONNRESET; after a FIN and a reset, with EPIPE.
      peer.finishSendingWithoutNotify()
      peer.reset()
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(20_000_000)
        _ = await #expect(processExitsWith: .success) {
          [
            url = origin.url as String, body = body as Body, path = file.path as String,
            pem = identity.authorityPEM as [UInt8]
          ] in
          // Restores the default action of SIGPIPE, because the test runner's parent may have set the signal
          // to be ignored.
          signal(SIGPIPE, SIG_DFL)
          let file = URL(filePath: path)
          try await withSession {
            $0.engine.tls.trustRoots = [.pem(pem)]
          } _: { session in
            // The test repeats the attempt, because the connection rarely ends exactly between two writes.
            for _ in 0..<5 {
              let request =
                switch body {
                case .data: session.upload(try Data(contentsOf: file), to: url)
                case .file: session.upload(file, to: url)
                case .stream: session.upload(InputStream(url: file) ?? InputStream(data: Data()), to: url)
                }
              let error = await request.serializingString().response.error?.underlyingError as? URLError
              try #require(error?.code == .networkConnectionLost, "\(String(describing: error))")
            }
          }
          try #require(await hasNoEngine())
        }
      }
    }
  }

  @Test("requests succeed even if signals interrupt their system calls")
  func interruptions() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 2_000_000))
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        // Without SA_RESTART, every interrupted blocking call fails with EINTR.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGALRM, &action, nil)
        var configuration = EngineConfiguration()
        configuration.proxy = .none
        let engine = try Engine(configuration: configuration)
        let request = EngineRequest(uri: try URI(url))
        // The signals are sent to the loop's thread. The kernel would deliver a signal for the whole process to another
        // thread, and the threads that Dispatch starts block signals.
        let loop = await Task(executorPreference: engine.executor(for: request.uri.origin)) {
          UInt(unblock(SIGALRM))
        }.value
        let often = DispatchSource.makeTimerSource()
        often.schedule(deadline: .now(), repeating: .microseconds(500))
        often.setEventHandler { pthread_kill(pthread_t(loop), SIGALRM) }
        often.resume()
        for _ in 0..<20 {
          let response = try await engine.collect(request)
          try #require(response.body.count == 2_000_000)
        }
        // The timer must end before the engine, because pthread_kill needs a live thread.
        await withCheckedContinuation { continuation in
          often.setCancelHandler { continuation.resume() }
          often.cancel()
        }
        _ = withExtendedLifetime(engine) { 0 }
      }
    }
  }

  @Test("a child process inherits none of a session's file descriptors")
  func startedPrograms() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
      _ = try peer.awaitClose()
    } _: { origin in
      try await withFolder { folder in
        _ = await #expect(processExitsWith: .success) { [url = origin.url as String, path = folder.path as String] in
          setenv("TMPDIR", path, 1)
          // Only descriptors that the test process doesn't itself pass to its children are counted.
          let before = try inherited(path)
          try await withSession { session in
            let request = session.download(url)
            await request.receives(4)
            let reachability = NetworkReachabilityManager()
            reachability?.startListening(onQueue: .global()) { _ in }
            let own = Resources.descriptors(below: path)
            // At least these four exist: the connection, the loop's two descriptors and the temporary file.
            try #require(own.count >= 4, "\(own)")
            let after = try inherited(path)
            try #require(after == before)
            reachability?.stopListening()
            request.cancel()
          }
          try #require(await hasNoEngine())
        }
      }
    }
  }

  @Test("bytes that arrived while the process was stopped are handled before a timeout that expired meanwhile")
  func stopped() async throws {
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
        // When the client has received these bytes, it stops itself for longer than its time limit. The server sends the
        // rest as soon as the client has stopped.
        if let process = Int(request.path.dropFirst()) {
          while !isStopped(process) { try peer.pause(for: .milliseconds(5)) }
        }
        try peer.send("half")
      }
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        let session = Session(configuration: .forTests)
        // The first request loads libraries. It precedes the measured request, so that loading doesn't delay that one.
        _ = try await session.request(url + "/at-once").serializingString().value
        let start = ContinuousClock.now
        let stream = session.streamRequest(
          URLRequest(url: try #require(URL(string: url + "/\(getpid())")), timeoutInterval: 15))
        var text = ""
        for await event in stream.streamTask().streamingStrings() {
          if text.isEmpty, event.value != nil { try stopThisProcess(seconds: 20) }
          if let value = event.value { text += value }
          if let completion = event.completion { try #require(completion.error == nil, "\(completion)") }
        }
        try #require(text == "halfhalf")
        try #require(ContinuousClock.now - start > .seconds(15), "the process wasn't stopped")
      }
    }
  }

  @Test("TLS requests still succeed while the process is exiting")
  func end() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer(tls: identity) { _ in
      Reply(fields: ["Connection": "close"], .bytes([1]))
    } _: { origin in
      _ = await #expect(processExitsWith: .exitCode(7)) {
        [url = origin.url as String, pem = identity.authorityPEM as [UInt8]] in
        // Exit handlers run in reverse order, so this one, which is registered first, runs after those of the libraries.
        atexit {
          while answers.wait(timeout: .now()) == .success {}
          for _ in 0..<20 where answers.wait(timeout: .now() + 60) == .timedOut { _exit(8) }
          _exit(7)
        }
        try await withSession {
          $0.engine.tls.trustRoots = [.pem(pem)]
        } _: { session in
          for _ in 0..<32 {
            Task.detached {
              while true {
                _ = try await session.request(url).serializingData().value
                answers.signal()
              }
            }
          }
          _ = try await session.request(url).serializingData().value
          exit(0)
        }
      }
    }
  }

  @Test("setting the wall clock forward or backward doesn't affect time limits")
  func clock() async throws {
    let (status, output) = try await runProgram(["LupineFaults", "clock"])
    #expect(status == 0, "\(output)")
  }
}

/// Signaled for each response that the client receives.
private let answers = DispatchSemaphore(value: 0)

/// Waits until all engines of this process have ended. Returns false if an engine is still running after 60 s.
///
/// If a request is alive when the process exits, LeakSanitizer reports the request's bytes as leaked, because Swift stores a
/// tag in their address.
private func hasNoEngine() async -> Bool {
  await settles { threadCount(named: "lupine-loop") == 0 }
}

/// Starts a child process, and returns the targets of the sockets, event descriptors and temporary files that it inherits.
private func inherited(_ folder: String) throws -> [String] {
  let script = "for number in /proc/self/fd/*; do readlink $number; done >'\(folder)/list'"
  try ChildProcess(["/bin/sh", "-c", script]).awaitEnd()
  let list = try String(contentsOfFile: folder + "/list", encoding: .utf8)
  return list.split(separator: "\n").map(String.init).filter {
    ["socket:", "anon_inode:", folder + "/lupine"].contains(where: $0.hasPrefix)
  }
}

/// Unblocks a signal on the calling thread, and returns that thread.
private func unblock(_ signal: CInt) -> pthread_t {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, signal)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  return pthread_self()
}

/// Returns whether a process is stopped by a signal (proc_pid_stat(5)).
private func isStopped(_ process: Int) -> Bool {
  let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
  // The state follows the name, which is in parentheses and may contain any character.
  return text.split(separator: ")").last?.hasPrefix(" T") == true
}

/// Starts a shell that stops this process and continues it after `seconds`. A stopped process couldn't continue itself.
private func stopThisProcess(seconds: Int) throws {
  _ = try ChildProcess(["/bin/sh", "-c", "kill -STOP \(getpid()); sleep \(seconds); kill -CONT \(getpid())"])
}
