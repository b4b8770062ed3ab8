// WebSocketTests: `lupine --ws`: lines to the server, messages from it, frames with --verbose, and exit statuses.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineWire
import Testing

@Suite("WebSocket by the command", .timeLimit(.minutes(10)))
struct WebSocketTests {
  private func withSocketServer<Value>(
    _ handler: @escaping @Sendable (Peer) throws -> Void, _ body: (String) async throws -> Value
  ) async throws -> Value {
    let origin = try OriginServer(handler: handler)
    defer { origin.stop() }
    return try await body("ws" + origin.url.dropFirst(4))
  }

  @Test(
    "--ws sends the lines of standard input, closes the connection at the input's end, and prints messages until the server answers"
  )
  func lines() async throws {
    let received = Recorder<String>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      while let frame = try socket.next() {
        received.record("\(frame.opcode) \(frame.opcode == 8 ? "" : String(decoding: frame.payload, as: UTF8.self))")
        if frame.opcode == 8 { return try socket.send(.text("answer"), ServerFrame(8, frame.payload)) }
      }
    } _: { url in
      let run = try await lupine(["--ws", url], input: "one\ntwo\nthrée")
      #expect(run.status == 0 && run.output == "answer\n", "\(run.errors)")
      #expect(await received.first(4) == ["1 one", "1 two", "1 thrée", "8 "])
    }
  }

  @Test("received messages are printed until the server closes the connection, although standard input hasn't ended")
  func closedByServer() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), let line = try socket.next() else { return }
      try socket.send(ServerFrame(1, line.payload), .text("two"), .close(1000, "bye"))
      _ = try socket.next()
    } _: { url in
      let folder = try Folder()
      let run = try await shell(
        "mkfifo \(folder.path)/f; exec 3<>\(folder.path)/f; echo first >&3; $lupine --ws \(url) <&3")
      #expect(run.status == 0 && run.output == "first\ntwo\n", "\(run.errors)")
    }
  }

  @Test("with --verbose, each frame and the handshake are written to standard error")
  func verbose() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), try socket.next() != nil else { return }
      try socket.send(.text("pong"), .close(1001))
      _ = try socket.next()
    } _: { url in
      let folder = try Folder()
      let run = try await shell(
        "mkfifo \(folder.path)/f; exec 3<>\(folder.path)/f; echo ping >&3; $lupine -v --ws \(url) <&3")
      #expect(run.status == 0, "\(run.errors)")
      for line in [
        "> Upgrade: websocket", "< HTTP/1.1 101 Switching Protocols", "> text, 4 bytes", "< text, 4 bytes",
        "< close, 2 bytes", "* closed with the code 1001",
      ] {
        #expect(run.errors.contains(line), "\(line)")
      }
    }
  }

  @Test("a refused handshake, a lost connection and another close code fail with an exit status")
  func failures() async throws {
    try await withSocketServer { peer in
      guard let request = try peer.readHead() else { return }
      switch request.path {
      case "/404": try peer.respond(status: 404)
      case "/lost": _ = try ServerSocket(peer, answering: request)
      default:
        let socket = try ServerSocket(peer, answering: request, then: [.close(4000, "over")])
        _ = try socket.next()
      }
    } _: { url in
      let refusal = "lupine: \(url)/404: the server answered the WebSocket handshake with status 404"
      for (path, status, text) in [("/404", 22, refusal), ("/lost", 56, "lost"), ("/", 1, "4000: over")] {
        let folder = try Folder()
        let run = try await shell("mkfifo \(folder.path)/f; exec 3<>\(folder.path)/f; $lupine --ws \(url)\(path) <&3")
        #expect(run.status == status && run.errors.contains(text) && run.hasOneErrorLine, "\(run.errors)")
      }
    }
  }

  @Test("if the output can't be written after the input's end, the command ends although the server sends more")
  func closedOutput() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), try socket.next()?.opcode == 8 else { return }
      // More than the pipe and the client's window hold.
      let message = ServerFrame.text(String(repeating: "x", count: 1_023))
      for _ in 0..<2_048 { try socket.send(message) }
    } _: { url in
      let run = try await shell(
        "{ timeout 120 $lupine --ws \(url) </dev/null; echo $? >&2; } | head -c 1")
      #expect(run.output == "x" && run.errors == "23\n", "\(run.errors)")
    }
  }

  @Test("with -L, a redirect to a ws URL is followed")
  func redirect() async throws {
    try await withSocketServer { peer in
      guard let request = try peer.readHead() else { return }
      if request.path == "/old" {
        let host = request.fields.first("Host") ?? ""
        return try peer.respond(status: 302, fields: ["Location": "ws://\(host)/new", "Connection": "close"])
      }
      try ServerSocket(peer, answering: request).echo()
    } _: { url in
      let run = try await lupine(["--ws", "-L", "\(url)/old"], input: "line\n")
      #expect(run.status == 0 && run.output == "line\n", "\(run.errors)")
    }
  }

  @Test("errors of --ws name the URL with the scheme ws or wss, as the user has written it")
  func schemes() async throws {
    for scheme in ["ws", "wss"] {
      let run = try await lupine(["--ws", "\(scheme)://127.0.0.1:1/"])
      #expect(run.status == 7 && run.errors.hasPrefix("lupine: \(scheme)://127.0.0.1:1: "), "\(run.errors)")
    }
    let origin = try OriginServer { peer in while try !peer.receive().isEmpty {} }
    defer { origin.stop() }
    let url = "ws" + origin.url.dropFirst(4)
    let late = try await lupine(["--ws", "--max-time", "0.01", url])
    #expect(late.status == 28 && late.errors.hasPrefix("lupine: \(url): "), "\(late.errors)")
  }

  @Test("--ws can't be combined with a body or another method, and a ws URL requires it")
  func usage() async throws {
    for arguments in [
      ["--ws", "-d", "x", "ws://localhost/"], ["--ws", "-X", "POST", "ws://localhost/"], ["ws://localhost/"],
    ] {
      #expect(try await lupine(arguments).status == 2)
    }
  }
}
