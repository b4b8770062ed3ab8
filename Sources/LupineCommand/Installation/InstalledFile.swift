// InstalledFile: the files that --generate writes: the manual page, and the completions for three shells.

import LupineEngine

/// A file that is installed with the command, generated from the tables of options.
enum InstalledFile: String, CaseIterable {
  case man, bash, zsh, fish

  /// The names of all files, for the help and for error messages.
  static let allNames = allCases.map(\.rawValue).joined(separator: ", ")

  /// The content of the file.
  var text: String {
    switch self {
    case .man: ManualPage.text
    case .bash: Completions.bash
    case .zsh: Completions.zsh
    case .fish: Completions.fish
    }
  }
}

/// An option of the command or of a subcommand, as the generated files describe it.
struct InstalledOption {
  /// The kinds of values that a shell offers for an option.
  enum Value: Equatable {
    /// The option takes no value.
    case none
    /// A value that no shell can guess.
    case free
    case file
    case folder
    case words([String])
  }

  let name: String
  let form: OptionName.Form
  /// The headline above the option, or nil if it doesn't start a group.
  let headline: String?

  /// The help text, in one line.
  var summary: String { form.summary.joined(separator: " ") }

  static let transfer = OptionName.allCases.map { name in
    InstalledOption(name: name.rawValue, form: name.form, headline: name.headline)
  }

  /// The options of `lupine fuzz`.
  private static let fuzz = FuzzOptions.Name.allCases.map { name in
    InstalledOption(name: name.rawValue, form: name.form, headline: nil)
  }

  #if Bench
    /// The options of `lupine bench` that a single request doesn't have.
    private static let bench = BenchOptions.Name.allCases.map { name in
      InstalledOption(name: name.rawValue, form: name.form, headline: nil)
    }
  #endif

  /// The subcommands of this build.
  static var subcommands: [Subcommand] {
    var all = [
      Subcommand(name: "fuzz", summary: "send malformed requests to your own server", options: fuzz, others: [])
    ]
    #if Bench
      let others = transfer.filter { option in !bench.contains { $0.name == option.name } }
      all.append(Subcommand(name: "bench", summary: "measure a server under load", options: bench, others: others))
    #endif
    return all
  }

  struct Subcommand {
    let name: String
    let summary: String
    /// The options that only the subcommand has.
    let options: [InstalledOption]
    /// The options of a single request that the subcommand also has.
    let others: [InstalledOption]
  }

  var value: Value {
    switch form.valueName {
    case nil: .none
    case "FILE", "PATH", "FILE[:PASSWORD]": .file
    case "FOLDER": .folder
    case "METHOD": .words(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    case "CODING": .words(ContentCoding.allCases.map(\.name))
    case "TYPE": .words(["PEM", "P12"])
    case "VERSION": .words(["1.2", "1.3", "default"])
    case "KIND": .words(InstalledFile.allCases.map(\.rawValue))
    default: .free
    }
  }
}
