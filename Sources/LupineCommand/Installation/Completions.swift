// Completions: the scripts with which bash, zsh and fish complete the command's options and their values.

/// The completions for each shell, generated from the tables of options.
enum Completions {
  static var bash: String {
    """
    # Completions of lupine for bash. Written by "lupine --generate bash".
    _lupine() {
      local current=$2 previous=$3 options='\(words(InstalledOption.transfer))'
      COMPREPLY=()
      if [ "$COMP_CWORD" -gt 1 ]; then
        case ${COMP_WORDS[1]} in
    \(InstalledOption.subcommands.map { "      \($0.name)) options='\(words($0.options + $0.others))' ;;" }.joined(separator: "\n"))
        esac
      fi
      case $previous in
    \(values())
      esac
      case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
        *) [ "$COMP_CWORD" -ne 1 ] || mapfile -t COMPREPLY < <(compgen -W '\(names)' -- "$current") ;;
      esac
    }
    complete -F _lupine lupine

    """
  }

  static var zsh: String {
    """
    #compdef lupine
    # Completions of lupine for zsh. Written by "lupine --generate zsh".
    _lupine() {
      local subcommand=
      if (( CURRENT > 2 )); then
        case $words[2] in
          \(names.split(separator: " ").joined(separator: "|")))
            subcommand=$words[2]
            shift words
            (( CURRENT-- )) ;;
        esac
      fi
      case $subcommand in
    \(InstalledOption.subcommands.map(zshCase).joined(separator: "\n"))
        *) _arguments -s -S : \\
    \(InstalledOption.transfer.map(zshLine).joined())      '*:URL:_urls' ;;
      esac
    }
    _lupine "$@"

    """
  }

  static var fish: String {
    """
    # Completions of lupine for fish. Written by "lupine --generate fish".
    complete -c lupine -f
    \(InstalledOption.subcommands.map(fishLines).joined(separator: "\n"))
    \(InstalledOption.transfer.map { fishLine($0, "not __fish_seen_subcommand_from \(names)") }.joined(separator: "\n"))

    """
  }

  private static var names: String { InstalledOption.subcommands.map(\.name).joined(separator: " ") }

  private static func words(_ options: [InstalledOption]) -> String {
    options.map { option in (option.form.letter.map { "-\($0) " } ?? "") + "--\(option.name)" }.joined(separator: " ")
  }

  // The cases of the script for bash: an action for each kind of value. An option of several tables has the kind that the first of them states.
  private static func values() -> String {
    var actions: [String: String] = [:]
    var order: [String] = []
    for option in InstalledOption.transfer + InstalledOption.subcommands.flatMap(\.options) {
      let action: String
      switch option.value {
      case .none: continue
      case .free: action = ":"
      case .file: action = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
      case .folder: action = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")"
      case .words(let words):
        action = "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$current\")"
      }
      let names = (option.form.letter.map { "-\($0)|" } ?? "") + "--\(option.name)"
      if let known = actions[action] {
        if !known.split(separator: "|").contains("--\(option.name)") { actions[action] = "\(known)|\(names)" }
      } else {
        actions[action] = names
        order.append(action)
      }
    }
    return order.map { "    \(actions[$0, default: ""])) \($0); return ;;" }.joined(separator: "\n")
  }

  private static func zshLine(_ option: InstalledOption) -> String {
    let summary = escape(option.summary, ["\\": "\\\\", "[": "\\[", "]": "\\]"])
    let message = option.form.valueName.map { escape($0, [":": "\\:"]) }
    let action =
      switch option.value {
      case .none, .free: " "
      case .file: "_files"
      case .folder: "_files -/"
      case .words(let words): "(\(words.joined(separator: " ")))"
      }
    let text = "[\(summary)]" + (message.map { ":\($0):\(action)" } ?? "")
    // "+" and "=": the value may be part of the same argument.
    let long = "--\(option.name)" + (message == nil ? "" : "=")
    let forms = option.form.letter.map { "{-\($0)\(message == nil ? "" : "+"),\(long)}" } ?? long
    return "      '*'\(forms)\(quoted(text)) \\\n"
  }

  private static func zshCase(_ subcommand: InstalledOption.Subcommand) -> String {
    "    \(subcommand.name)) _arguments -s -S : \\\n"
      + (subcommand.options + subcommand.others).map(zshLine).joined() + "      '1:URL:_urls' ;;"
  }

  private static func fishLines(_ subcommand: InstalledOption.Subcommand) -> String {
    let start =
      "complete -c lupine -n __fish_use_subcommand -a \(subcommand.name) -d \(fishQuoted(subcommand.summary))\n"
    return start
      + (subcommand.options + subcommand.others).map { fishLine($0, "__fish_seen_subcommand_from \(subcommand.name)") }
      .joined(separator: "\n")
  }

  private static func fishLine(_ option: InstalledOption, _ condition: String) -> String {
    let letter = option.form.letter.map { " -s \($0)" } ?? ""
    let value =
      switch option.value {
      case .none: ""
      case .free: " -x"
      case .file: " -r -F"
      case .folder: " -x -a '(__fish_complete_directories)'"
      case .words(let words): " -x -a \(fishQuoted(words.joined(separator: " ")))"
      }
    return "complete -c lupine -n '\(condition)'\(letter) -l \(option.name)\(value) -d \(fishQuoted(option.summary))"
  }

  private static func quoted(_ text: String) -> String { "'\(escape(text, ["'": "'\\''"]))'" }

  private static func fishQuoted(_ text: String) -> String { "'\(escape(text, ["\\": "\\\\", "'": "\\'"]))'" }

  private static func escape(_ text: String, _ replacements: [Character: String]) -> String {
    text.map { replacements[$0] ?? String($0) }.joined()
  }
}
