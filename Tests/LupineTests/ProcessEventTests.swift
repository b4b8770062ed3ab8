// What happens to a process: signals, programs that it starts, a clock that is set, being stopped for a while.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

/// In processes of their own.
@Suite(.timeLimit(.minutes(10))) struct ProcessEventTests {
  enum Body: String, CaseIterable, Codable, Sendable { case data, file, stream }

  @Test(
    "a server that goes in the middle of an upload raises no SIGPIPE", arguments: Body.allCases, [false, true])
  func brokenPipe(body: Body, isSecure: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withOrigin(tls: isSecure ? identity : nil) { peer in
      _ = try peer.readHead()
      _ = try peer.receive()
      // A reset alone is ECONNRESET to whoever writes next; after a FIN it is EPIPE.
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
          // As a program has it from its start; whoever runs the tests may have it ignored.
          signal(SIGPIPE, SIG_DFL)
          let file = URL(filePath: path)
          try await withSession {
            $0.engine.tls.trustRoots = [.pem(pem)]
          } _: { session in
            // Again and again, since it takes luck that the end comes between two writes.
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

  @Test("signals that a program handles interrupt its system calls, and no request")
  func interruptions() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 2_000_000))
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        // Without SA_RESTART every call that waits answers EINTR.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGALRM, &action, nil)
        var configuration = EngineConfiguration()
        configuration.proxy = .none
        let engine = try Engine(configuration: configuration)
        let request = EngineRequest(uri: try URI(url))
        // To the loop's own thread: the system would choose another, and a thread that Dispatch's start blocks signals.
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
        // The thread may be gone later.
        await withCheckedContinuation { continuation in
          often.setCancelHandler { continuation.resume() }
          often.cancel()
        }
        _ = withExtendedLifetime(engine) { 0 }
      }
    }
  }

  @Test("a program that is started inherits no descriptor of a session's")
  func startedPrograms() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
      _ = try peer.awaitClose()
    } _: { origin in
      try await withFolder { folder in
        _ = await #expect(processExitsWith: .success) { [url = origin.url as String, path = folder.path as String] in
          setenv("TMPDIR", path, 1)
          // What the tests' own process has left open to its children is none of a session's.
          let before = try inherited(path)
          try await withSession { session in
            let request = session.download(url)
            await request.receives(4)
            let own = Left.descriptors(below: path)
            // The connection, the loop's two, and the temporary file.
            try #require(own.count >= 4, "\(own)")
            let after = try inherited(path)
            try #require(after == before)
            request.cancel()
          }
          try #require(await hasNoEngine())
        }
      }
    }
  }

  @Test("a process that was stopped goes on with what has come meanwhile, though its time has passed")
  func stopped() async throws {
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
        // The client is stopped when it has this, for longer than its time limit; the rest comes as soon as it is.
        if let process = Int(request.path.dropFirst()) {
          while !isStopped(process) { try peer.pause(for: .milliseconds(5)) }
        }
        try peer.send("half")
      }
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        let session = Session(configuration: .forTests)
        // Everything that is loaded late is loaded.
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

  @Test("requests over TLS go on while the process ends")
  func end() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer(tls: identity) { _ in
      Reply(fields: ["Connection": "close"], .bytes([1]))
    } _: { origin in
      _ = await #expect(processExitsWith: .exitCode(7)) {
        [url = origin.url as String, pem = identity.authorityPEM as [UInt8]] in
        // Called last, since it is registered first: what libraries do at the end has been done.
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

  @Test("a clock that is set forwards or backwards moves no time limit")
  func clock() async throws {
    let (status, output) = try await runProgram(["LupineFaults", "clock"])
    #expect(status == 0, "\(output)")
  }
}

/// What has been answered since the process began.
private let answers = DispatchSemaphore(value: 0)

/// Whether every engine of this process ends soon. To LeakSanitizer, the bytes of a request that is alive at the process's
/// end look lost: Swift keeps a tag in their address.
private func hasNoEngine() async -> Bool {
  await settles { threadCount(named: "lupine-loop") == 0 }
}

/// The descriptors that a program which is started now inherits.
private func inherited(_ folder: String) throws -> [String] {
  let script = "for number in /proc/self/fd/*; do readlink $number; done >'\(folder)/list'"
  try ChildProcess(["/bin/sh", "-c", script]).awaitEnd()
  let list = try String(contentsOfFile: folder + "/list", encoding: .utf8)
  return list.split(separator: "\n").map(String.init).filter {
    ["socket:", "anon_inode:", folder + "/lupine"].contains(where: $0.hasPrefix)
  }
}

/// Lets a signal reach this thread, and returns which one it is.
private func unblock(_ signal: CInt) -> pthread_t {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, signal)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  return pthread_self()
}

/// Whether a process has been stopped by a signal (proc_pid_stat(5)).
private func isStopped(_ process: Int) -> Bool {
  let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
  // The state stands behind the name, which is in brackets and may hold anything.
  return text.split(separator: ")").last?.hasPrefix(" T") == true
}

/// Has a shell stop this process, and let it go on later. The shell does both, since nobody in here could.
private func stopThisProcess(seconds: Int) throws {
  _ = try ChildProcess(["/bin/sh", "-c", "kill -STOP \(getpid()); sleep \(seconds); kill -CONT \(getpid())"])
}
