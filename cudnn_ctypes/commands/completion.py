"""``completion``: print a script with which bash or zsh complete these commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from . import COMMANDS, command_parser
from .options import Names

# It uses functions of bash; zsh gets them from `bashcompinit`.
_SCRIPT = """\
_cudnn_ctypes() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}} $before" in
{choices}
        esac
        if [ -z "$words" ]; then
            case "$word" in
            -*)
                case "${{COMP_WORDS[1]}}" in
{options}
                esac ;;
            esac
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _cudnn_ctypes cudnn-ctypes
"""
_FOR_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"

_ABOUT = """\
bash: add this line to ~/.bashrc
  eval "$(cudnn-ctypes completion bash)"
zsh: add this line to ~/.zshrc
  eval "$(cudnn-ctypes completion zsh)"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes completion``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _ABOUT
    parser.add_argument("shell", choices=("bash", "zsh"))


def main(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(script(arguments.shell), end="")
    return 0


def script(shell: str) -> str:
    """The script for ``bash`` or ``zsh``, generated from the commands' parsers."""
    parsers = _parsers()
    options = [
        f'                {name}) words="{" ".join(_options(parser))}" ;;'
        for name, parser in parsers.items()
    ]
    choices = [
        f'        {pattern}) words="{words}" ;;'
        for name, parser in parsers.items()
        for pattern, words in _choices(name, parser)
    ]
    text = _SCRIPT.format(
        commands=" ".join([*COMMANDS, "--help", "--version"]),
        choices="\n".join(choices),
        options="\n".join(options),
    )
    return (_FOR_ZSH if shell == "zsh" else "") + text


def _parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    everything = command_parser(list(COMMANDS))
    (found,) = (
        action for action in everything._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(found.choices)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The long options, or short options without a long form."""
    return [name for action in parser._actions for name in action.option_strings if "--" in name]


def _choices(command: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Patterns of "command previous-word", each with the possible next words."""
    for action in parser._actions:
        words = action.type.names if isinstance(action.type, Names) else action.choices
        if words and not isinstance(words, dict):
            before = action.option_strings or [command]
            pattern = "|".join(f'"{command} {name}"' for name in before)
            yield pattern, " ".join(map(str, words))
