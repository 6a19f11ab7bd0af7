"""Shell completion, made from the table of commands: commands, options, and the words they take.

Gives a script's text; installs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.cli.options import COMMANDS, every_command

_BASH: Final = """\
_purlieu() {{
    local typed="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
    case "${{COMP_WORDS[1]}} $before" in
{values}
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{top}"
    elif [ -z "$words" ]; then
        case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}} " in
{commands}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$typed"))
}}
complete -o default -F _purlieu purlieu
"""
_HEADS: Final = {
    "bash": '# Completion of purlieu for bash; put this into ~/.bashrc: eval "$(purlieu completion bash)"\n',
    "zsh": '# Completion of purlieu for zsh; put this into ~/.zshrc: eval "$(purlieu completion zsh)"\n'
    "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n",
    "fish": "# Completion of purlieu for fish; put this into config.fish: purlieu completion fish | source\n",
}


def script(shell: str) -> str:
    """Return the completion script for bash, zsh or fish."""
    return _HEADS[shell] + ("".join(f"{line}\n" for line in _fish()) if shell == "fish" else _bash())


def _bash() -> str:
    values = [
        f'    "{typed.split()[0]} {name}") words="{" ".join(argument.choices)}" ;;'
        for typed, command in every_command()
        for argument in command.arguments
        for name in _flags(argument)
        if argument.choices
    ]
    # The longer first: "config show" before "config".
    commands = [f'        "{typed} "*) words="{" ".join(_next(command))}" ;;' for typed, command in every_command()]
    top = [command.name for command in COMMANDS]
    return _BASH.format(
        values="\n".join(values), commands="\n".join(reversed(commands)), top=" ".join([*top, "--version"])
    )


def _fish() -> Iterator[str]:
    top = " ".join(command.name for command in COMMANDS)
    for command in COMMANDS:
        yield f"complete -c purlieu -f -n 'not __fish_seen_subcommand_from {top}' -a {command.name} -d '{command.help}'"
    for typed, command in every_command():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in typed.split())
        for part in command.commands:
            yield f"complete -c purlieu -f -n '{seen}' -a {part.name} -d '{part.help}'"
        for argument in command.arguments:
            yield from _fish_argument(argument, seen)


def _fish_argument(argument: Argument, seen: str) -> Iterator[str]:
    told = argument.help.replace("'", "").replace('"', "")
    flags = "".join(f" -{'l' if flag.startswith('--') else 's'} {flag.lstrip('-')}" for flag in _flags(argument))
    if flags:
        bare = argument.kind in {"flag", "on", "off", "count"}
        takes = "" if bare else f" -xa '{' '.join(argument.choices)}'" if argument.choices else " -r"
        yield f"complete -c purlieu -n '{seen}'{flags}{takes} -d '{told}'"
    elif argument.choices:
        yield f"complete -c purlieu -f -n '{seen}' -a '{' '.join(argument.choices)}' -d '{told}'"


def _next(command: Command) -> Iterator[str]:
    """Yield what may be typed next in a command: its commands, options, and choices of arguments."""
    yield from (part.name for part in command.commands)
    for argument in command.arguments:
        yield from _flags(argument) or argument.choices


def _flags(argument: Argument) -> tuple[str, ...]:
    return tuple(name for name in argument.names if name.startswith("-"))
