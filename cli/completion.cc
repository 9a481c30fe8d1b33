// Completions for shells and the manual page, made from the same options that the program parses.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "cli/common.h"
#include "fathom/recipe/fields.h"
#include "fathom/version.h"

namespace fathom::cli {

namespace {

constexpr const char* kCompletionExample =
    "Examples:\n"
    "  source <(fathom completion bash)                                    for this shell\n"
    "  fathom completion bash > ~/.local/share/bash-completion/completions/fathom\n"
    "  fathom completion zsh > ~/.zfunc/_fathom\n"
    "  fathom completion fish > ~/.config/fish/completions/fathom.fish";
constexpr const char* kManExample =
    "Examples:\n"
    "  fathom man | man -l -                                               read it now\n"
    "  fathom man > ~/.local/share/man/man1/fathom.1                       for 'man fathom'";

std::vector<const CLI::App*> Commands(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

// "-o", "--output", ...; the negative forms of flags included.
std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// Kinds of kernels and likelihoods, for the options that take one.
std::string KnownKinds(const CLI::Option& option) {
  Recipe recipe;
  std::string kinds;
  for (const Field& field : RecipeFields(&recipe)) {
    const bool takes_kind = std::holds_alternative<std::string*>(field.value);
    if (!takes_kind || !option.check_lname(field.option)) continue;
    for (const std::string& kind : field.choices) kinds += (kinds.empty() ? "" : " ") + kind;
  }
  return kinds;
}

// "fast default best" for a value of type fast|default|best; empty for types such as NAME=S|FILE.
std::string Choices(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const auto spells_choices = [](char c) { return c == '|' || (c >= 'a' && c <= 'z'); };
  if (type.find('|') == std::string::npos || !std::all_of(type.begin(), type.end(), spells_choices))
    return KnownKinds(option);
  std::replace(type.begin(), type.end(), '|', ' ');
  return type;
}

std::string ReplaceEach(const std::string& text,
                        const std::function<std::string(char)>& replacement) {
  std::string out;
  for (const char c : text) out += replacement(c);
  return out;
}

// A text as one word of a shell.
std::string ShellQuoted(const std::string& text) {
  return "'" + ReplaceEach(text, [](char c) { return c == '\'' ? "'\\''" : std::string(1, c); }) +
         "'";
}

std::string Bash(const CLI::App& program) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : Commands(program)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    std::string names;
    std::string choices;
    std::string arguments;
    for (const CLI::Option* option : command->get_options()) {
      const std::string values = Choices(*option);
      if (!option->nonpositional() && !values.empty())
        arguments += "      [[ $previous == -* ]] || values=" + ShellQuoted(values) + "\n";
      for (const std::string& name : Names(*option)) {
        names += (names.empty() ? "" : " ") + name;
        if (!values.empty())
          choices += "        " + name + ") values=" + ShellQuoted(values) + " ;;\n";
      }
    }
    cases +=
        "    " + command->get_name() + ")\n      words=" + ShellQuoted(names) + "\n" + arguments;
    if (!choices.empty()) cases += "      case $previous in\n" + choices + "      esac\n";
    cases += "      ;;\n";
  }
  return "_fathom() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= "
         "values=\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  [ \"$COMP_CWORD\" -eq 1 ] && words='" +
         commands +
         " --help --version'\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ] || [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  elif [ -n \"$values\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _fathom fathom\n";
}

// In an _arguments specification brackets and colons have meanings of their own.
std::string ZshText(const std::string& text) {
  return ReplaceEach(text, [](char c) {
    return c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c
                                                         : std::string(1, c);
  });
}

std::string Zsh(const CLI::App& program) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : Commands(program)) {
    commands += "    " +
                ShellQuoted(command->get_name() + ":" + ZshText(command->get_description())) + "\n";
    cases += "    " + command->get_name() + ") _arguments \\\n";
    std::string arguments = "*:file:_files";
    for (const CLI::Option* option : command->get_options()) {
      const std::string choices = Choices(*option);
      const std::string action = choices.empty() ? "_files" : "(" + choices + ")";
      if (!option->nonpositional() && !choices.empty())
        arguments = ":" + option->get_name(true) + ":" + action;
      for (const std::string& name : Names(*option)) {
        std::string argument = "*" + name + "[" + ZshText(option->get_description()) + "]";
        if (!IsFlag(*option)) argument += ":" + ZshText(option->get_type_name()) + ":" + action;
        cases += "      " + ShellQuoted(argument) + " \\\n";
      }
    }
    cases += "      " + ShellQuoted(arguments) + " ;;\n";
  }
  return "#compdef fathom\n"
         "_fathom() {\n"
         "  local -a commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_fathom \"$@\"\n";
}

std::string Fish(const CLI::App& program) {
  std::string text;
  for (const CLI::App* command : Commands(program)) {
    text += "complete -c fathom -n __fish_use_subcommand -f -a " + command->get_name() + " -d " +
            ShellQuoted(command->get_description()) + "\n";
    for (const CLI::Option* option : command->get_options()) {
      const std::string choices = Choices(*option);
      if (!option->nonpositional() && choices.empty()) continue;  // a file
      text += "complete -c fathom -n '__fish_seen_subcommand_from " + command->get_name() + "'";
      if (!option->nonpositional()) text += " -f";
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      if (!choices.empty()) {
        text += (option->nonpositional() ? " -x -a " : " -a ") + ShellQuoted(choices);
      } else if (!IsFlag(*option)) {
        text += " -r";
      }
      text += " -d " + ShellQuoted(option->get_description()) + "\n";
    }
  }
  return text;
}

// Text of a manual page: no line begins with a request, and hyphens are those of the keyboard.
std::string Roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string ManOption(const CLI::Option& option) {
  std::string head;
  for (const std::string& name : Names(option)) head += (head.empty() ? "" : ", ") + name;
  if (head.empty()) head = option.get_name(true);
  std::string text = ".TP\n.B " + Roff(head) + "\n";
  if (!IsFlag(option) && option.nonpositional())
    text = ".TP\n\\fB" + Roff(head) + "\\fR \\fI" + Roff(option.get_type_name()) + "\\fR\n";
  text += Roff(option.get_description());
  if (!option.get_default_str().empty())
    text += " (default: " + Roff(option.get_default_str()) + ")";
  return text + ".\n";
}

std::string Man(const CLI::App& program) {
  std::string text = ".TH FATHOM 1 \"\" \"fathom " FATHOM_VERSION "\" \"User Commands\"\n";
  text +=
      ".SH NAME\nfathom \\- deep Gaussian processes: a table in, predictions with honest "
      "uncertainty out\n";
  text += ".SH SYNOPSIS\n.B fathom\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
          Roff(program.get_description()) + "\n.PP\n.nf\n" + Roff(program.get_footer()) + "\n.fi\n";
  for (const CLI::App* command : Commands(program)) {
    text += ".SH \"FATHOM " + Roff(command->get_name()) + "\"\n" +
            Roff(command->get_description()) + ".\n";
    for (const CLI::Option* option : command->get_options()) text += ManOption(*option);
    text += ".PP\n.nf\n" + Roff(command->get_footer()) + "\n.fi\n";
  }
  return text +
         ".SH EXIT STATUS\n0 good, 1 internal error, 2 bad input, 3 numerical failure, 130 and 143 "
         "interrupted.\n";
}

}  // namespace

Command AddCompletion(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("completion", "Print what makes a shell complete options");
  app->footer(kCompletionExample);
  const auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "Shell that is to complete")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}))
      ->type_name("bash|zsh|fish");
  return {app, [program, shell] {
            WriteOut(*shell == "bash"  ? Bash(*program)
                     : *shell == "zsh" ? Zsh(*program)
                                       : Fish(*program));
            return kGood;
          }};
}

Command AddMan(CLI::App* program) {
  CLI::App* app = program->add_subcommand("man", "Print the manual page");
  app->footer(kManExample);
  return {app, [program] {
            WriteOut(Man(*program));
            return kGood;
          }};
}

}  // namespace fathom::cli
