// InstalledFileTests: the manual page and the completions contain each option, and the completions work in bash. Those of zsh and
// fish run in Tests/Packaging, which installs these shells.

@testable import LupineCommand
import Testing

@Suite struct InstalledFileTests {
  @Test("--generate writes the manual page and each shell's completions, and refuses other words")
  func generate() async throws {
    for file in InstalledFile.allCases {
      let run = try await lupine(["--generate", file.rawValue])
      #expect(run.status == 0 && run.output == file.text)
    }
    let refused = try await lupine(["--generate", "csh"])
    #expect(refused.status == 2)
    #expect(refused.errors == "lupine: --generate writes man, bash, zsh, fish, not csh: see lupine --help\n")
  }

  @Test("the manual page and the completions contain each option of the command and of its subcommands")
  func options() {
    for option in InstalledOption.transfer + InstalledOption.subcommands.flatMap(\.options) {
      let roff = option.name.split(separator: "-", omittingEmptySubsequences: false).joined(separator: "\\-")
      #expect(ManualPage.text.contains("\\fB\\-\\-\(roff)\\fR"), "\(option.name)")
      #expect(Completions.bash.contains("--\(option.name)"))
      #expect(Completions.zsh.contains("--\(option.name)"))
      #expect(Completions.fish.contains("-l \(option.name)"))
    }
    for code in ExitCode.allCases { #expect(ManualPage.text.contains(".B \(code.rawValue)\n")) }
  }

  @Test(
    "bash completes options, their values, and the options of lupine fuzz",
    arguments: [
      ("--tls", "--tlsv1.2 --tlsv1.3 --tls-max --tls13-ciphers"), ("--encode g", "gzip"), ("--cert-type ''", "PEM P12"),
      ("f", "fuzz"), ("fuzz --se", "--seed"), ("fuzz --tls", ""), ("-m ''", ""), ("--capath /et", "/etc"),
      ("-T /etc/host", "/etc/host.conf /etc/hostname /etc/hosts"), ("-v -", nil),
    ] as [(String, String?)])
  func bash(line: String, wanted: String?) async throws {
    let script = """
      bash -c 'compopt() { :; }; eval "$1"; shift; COMP_WORDS=(lupine "$@"); COMP_CWORD=$#
      _lupine lupine "${!#}" "${COMP_WORDS[$#-1]}"; echo "${COMPREPLY[*]}"' bash "$($lupine --generate bash)" \(line)
      """
    let run = try await shell(script)
    #expect(run.status == 0 && run.errors.isEmpty)
    if let wanted {
      let found = Set(run.output.split(whereSeparator: \.isWhitespace))
      // A machine may lack a file, or have another one.
      if line.hasPrefix("-T") {
        #expect(found.contains("/etc/hosts"))
      } else {
        #expect(found == Set(wanted.split(separator: " ")))
      }
    } else {
      #expect(run.output.split(separator: " ").count > 70)
    }
  }
}
