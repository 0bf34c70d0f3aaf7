#include "fuzz/usage.h"

#include <fmt/format.h>

#include "fuzz/shell_words.h"

namespace fuzz {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// The names of an option as they are typed: "--seconds", "-o".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The text for troff: no part of it is taken for a request, and a minus stays a minus.
std::string troff(const std::string& text) {
  std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

void man_options(std::string& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    std::string names;
    for (const std::string& name : names_of(*option)) names += (names.empty() ? "" : ", ") + name;
    if (names.empty()) names = option->get_name(true);
    if (takes_value(*option) && option->nonpositional()) names += " VALUE";
    out += fmt::format(".TP\n.B {}\n{}\n", troff(names), troff(option->get_description()));
  }
}

}  // namespace

std::vector<std::string> given_options(const CLI::App& from, const CLI::App& to) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : from.get_options()) {
    if (!option->nonpositional() || to.get_option_no_throw(option->get_name()) == nullptr) continue;
    for (const std::string& value : option->results()) {
      arguments.push_back(option->get_name());
      if (takes_value(*option)) arguments.push_back(value);
    }
  }
  return arguments;
}

std::string bash_completion(const CLI::App& app) {
  std::string words, cases;
  for (const CLI::App* command : commands_of(app)) {
    std::string options;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : names_of(*option)) options += " " + name;
    }
    words += " " + command->get_name();
    cases +=
        fmt::format("    {}) words={} ;;\n", command->get_name(), shell_word(options.substr(options.empty() ? 0 : 1)));
  }
  return fmt::format(R"(# bash completion of hgcheck: source <(hgcheck completion bash)
_hgcheck() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words={}
  case ${{COMP_WORDS[1]}} in
{}  esac
  if ((COMP_CWORD == 1)); then words={}; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if ((COMP_CWORD > 1)) && [[ $word != -* ]]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _hgcheck hgcheck
)",
                     shell_word(""), cases, shell_word(words.substr(1)));
}

std::string zsh_completion(const CLI::App& app) {
  std::string words, cases;
  for (const CLI::App* command : commands_of(app)) {
    words += fmt::format("    {}\n",
                         shell_word(command->get_name() + ":" + replaced(command->get_description(), ":", "\\:")));
    cases += fmt::format("    {}) _arguments", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      const std::string about = replaced(replaced(option->get_description(), "[", "("), "]", ")");
      for (const std::string& name : names_of(*option)) {
        cases +=
            fmt::format(" \\\n      {}",
                        shell_word(fmt::format("{}[{}]{}", name, about, takes_value(*option) ? ":value:_files" : "")));
      }
    }
    cases += " \\\n      '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef hgcheck
# zsh completion of hgcheck: hgcheck completion zsh > a folder of $fpath/_hgcheck
_hgcheck() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then _describe command commands; return; fi
  local command=$words[2]
  shift words
  ((CURRENT -= 1))
  case $command in
{}  esac
}}
if [[ $funcstack[1] == _hgcheck ]]; then _hgcheck "$@"; else compdef _hgcheck hgcheck; fi
)",
                     words, cases);
}

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string out = fmt::format(".TH HGCHECK 1 \"\" \"hgcheck {}\"\n.SH NAME\nhgcheck \\- {}\n", troff(version),
                                troff(app.get_description()));
  out += ".SH SYNOPSIS\n.B hgcheck\n.I COMMAND\n.RI [ OPTIONS ]\n.SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format(".SS {}\n{}\n", troff(command->get_name()), troff(command->get_description()));
    man_options(out, *command);
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : {std::pair{0, "no divergence"},
                                        {1, "divergences were found (with --fault: the fault was found)"},
                                        {2, "usage, bad input, or an unusable path, library, subject or report folder"},
                                        {3, "a harness error, or a cap was exceeded"},
                                        {125, "from replay: the subject cannot run the program"},
                                        {130, "interrupted; what was found so far was written first"}}) {
    out += fmt::format(".TP\n.B {}\n{}\n", status, troff(meaning));
  }
  return out;
}

}  // namespace fuzz
