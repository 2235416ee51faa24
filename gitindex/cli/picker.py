"""A picker: a list that narrows as the user types. The only importer of prompt_toolkit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, VSplit, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.styles import Style

from gitindex.base.escape import safe_text
from gitindex.cli.shell_here import place_of

Result = dict[str, Any]
_STYLE = Style.from_dict({"chosen": "reverse", "path": "ansimagenta", "kind": "ansicyan"})


class _Picker:
    """The list and the selected row."""

    def __init__(self, ask: Callable[[str], list[Result]]) -> None:
        self._ask = ask
        self.results: list[Result] = []
        self.chosen = 0

    def narrow(self, text: str) -> None:
        self.results = self._ask(text) if text.strip() else []
        self.chosen = 0

    def move(self, step: int) -> None:
        self.chosen = max(0, min(self.chosen + step, len(self.results) - 1))

    def rows(self) -> StyleAndTextTuples:
        height = max(1, get_app().output.get_size().rows - 2)
        first = max(0, self.chosen - height + 1)
        shown: StyleAndTextTuples = []
        for number, result in enumerate(self.results[first : first + height], first):
            mark = "class:chosen " if number == self.chosen else ""
            shown.append((f"{mark}class:path", place_of(result)))
            if result["type"] == "symbol":
                label = f"  {result['kind']} {safe_text(result['qualifiedName'])}"
                shown.append((f"{mark}class:kind", label))
            shown.append(("", "\n"))
        return shown


def pick(start: str, ask: Callable[[str], list[Result]]) -> Result | None:
    """Let the user choose a result; None if they cancel."""
    picker = _Picker(ask)
    text = Buffer(multiline=False, on_text_changed=lambda buffer: picker.narrow(buffer.text))
    text.insert_text(start)
    keys = KeyBindings()

    @keys.add("enter")
    def _choose(event: KeyPressEvent) -> None:
        chosen = picker.results[picker.chosen] if picker.results else None
        event.app.exit(result=chosen)

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    def _leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    @keys.add("down")
    @keys.add("c-n")
    @keys.add("tab")
    def _down(_event: KeyPressEvent) -> None:
        picker.move(1)

    @keys.add("up")
    @keys.add("c-p")
    def _up(_event: KeyPressEvent) -> None:
        picker.move(-1)

    prompt = VSplit(
        [
            Window(FormattedTextControl("find> "), width=6, height=1),
            Window(BufferControl(text), height=1),
        ]
    )
    layout = Layout(HSplit([prompt, Window(FormattedTextControl(picker.rows))]))
    app: Application[Result | None] = Application(
        layout=layout, key_bindings=keys, style=_STYLE, full_screen=True
    )
    return app.run()
