"""``completion``: print a script with which a shell completes these commands, or a manual page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from .. import __version__
from . import COMMANDS, command_parser
from .options import Names

_FOR_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"

EPILOG = """\
bash: add this line to ~/.bashrc
  eval "$(cudnn-ctypes completion bash)"
zsh: add this line to ~/.zshrc
  eval "$(cudnn-ctypes completion zsh)"
fish: add this line to ~/.config/fish/config.fish
  cudnn-ctypes completion fish | source
man: put the page into a folder of man's
  cudnn-ctypes completion man > ~/.local/share/man/man1/cudnn-ctypes.1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes completion``."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "man"))


def main(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(script(arguments.shell), end="")
    return 0


def script(shell: str) -> str:
    """The script for ``bash``, ``zsh`` or ``fish``, or the page for ``man``, of the parsers."""
    parsers = _parsers()
    if shell == "fish":
        return "\n".join(_fish(parsers)) + "\n"
    if shell == "man":
        return "\n".join(_manual(parsers)) + "\n"
    options = [
        f'                {name}) words="{" ".join(_options(parser))}" ;;'
        for name, parser in parsers.items()
    ]
    choices = [
        f'        {pattern}) words="{words}" ;;'
        for name, parser in parsers.items()
        for pattern, words in _choices(name, parser)
    ]
    text = Path(__file__).with_suffix(".bash").read_text("utf-8").partition("\n")[2]
    text = text.replace("@commands@", " ".join([*COMMANDS, "--help", "--version"]))
    text = text.replace("@choices@", "\n".join(choices)).replace("@options@", "\n".join(options))
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
        if words := _words(action):
            before = action.option_strings or [command]
            pattern = "|".join(f'"{command} {name}"' for name in before)
            yield pattern, " ".join(words)


def _words(action: argparse.Action) -> list[str]:
    """The words that may follow an option, or stand for an argument, if they are few."""
    words = action.type.names if isinstance(action.type, Names) else action.choices
    return [] if not words or isinstance(words, dict) else [str(word) for word in words]


def _fish(parsers: dict[str, argparse.ArgumentParser]) -> Iterator[str]:
    line = "complete -c cudnn-ctypes -n '{}'"
    for name, about in COMMANDS.items():
        yield f"{line.format('__fish_use_subcommand')} -f -a {name} -d {_quoted(about)}"
    for name, parser in parsers.items():
        start = line.format(f"__fish_seen_subcommand_from {name}")
        for action in parser._actions:
            names = [each.lstrip("-") for each in action.option_strings]
            options = "".join(f" -{'s' if len(each) == 1 else 'l'} {each}" for each in names)
            words = _words(action)
            if words:
                yield f"{start}{options} -x -a {_quoted(' '.join(words))}"
            elif options:
                yield f"{start}{options}{'' if action.nargs == 0 else ' -r'}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _manual(parsers: dict[str, argparse.ArgumentParser]) -> Iterator[str]:
    """The commands' help in the language of man."""
    yield f'.TH CUDNN-CTYPES 1 "" "cudnn-ctypes {__version__}"'
    yield ".SH NAME\ncudnn-ctypes \\- all of cuDNN's C API from Python"
    yield ".SH SYNOPSIS\n.B cudnn-ctypes\nCOMMAND [ARGUMENTS]\n.SH COMMANDS"
    for name, parser in parsers.items():
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        lines = parser.format_help().replace("\\", "\\e").splitlines()
        yield f".SS {name}\n.nf"
        yield from (f"\\&{line.replace('-', chr(92) + '-')}" for line in lines)
        yield ".fi"
