"""Run small Python programs and print who called what: `python call_recorder.py FOLDER…`, one JSON line each.

A call is `[caller, callee]`, both `path` (code outside of functions) or `path#Qualified.name`. Lambdas and
comprehensions are part of the function they stand in; a constructor is the class of what it makes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from types import FrameType
from typing import Any

_INNER = {"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<locals>", "<module>"}


class Recorder:
    """Collects the calls between functions of one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "")
        self.calls: set[tuple[str, str]] = set()
        self._started: list[FrameType] = []  # kept, so that a generator's frame is counted once

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:
        if event != "call" or not self._is_own(frame) or frame in self._started:
            return
        self._started.append(frame)
        caller = frame.f_back
        while caller is not None and not self._is_own(caller):
            caller = caller.f_back
        name = frame.f_code.co_name
        if caller is None or name in _INNER or _is_class_body(frame):
            return
        self.calls.add((self._node(caller), self._called(frame, caller)))

    def _is_own(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self.folder)

    def _called(self, frame: FrameType, caller: FrameType) -> str:
        if frame.f_code.co_name != "__init__":
            return self._node(frame)
        made = frame.f_locals["self"]
        if caller.f_code.co_name == "__init__" and caller.f_locals.get("self") is made:
            return self._node(frame).removesuffix(".__init__")  # by super()
        return f"{self._path(frame)}#{type(made).__qualname__}"

    def _node(self, frame: FrameType) -> str:
        while _is_class_body(frame) and frame.f_back is not None:
            frame = frame.f_back
        parts = [p for p in frame.f_code.co_qualname.split(".") if p not in _INNER]
        return "#".join([self._path(frame), *([".".join(parts)] if parts else [])])

    def _path(self, frame: FrameType) -> str:
        return frame.f_code.co_filename.removeprefix(self.folder)


def _is_class_body(frame: FrameType) -> bool:
    return not frame.f_code.co_flags & 0x2 and frame.f_code.co_name != "<module>"  # CO_NEWLOCALS


def record(folder: str) -> list[tuple[str, str]]:
    """Run `main.py` of a folder; modules of its own are forgotten afterwards."""
    known, recorder = set(sys.modules), Recorder(os.path.realpath(folder))
    sys.path.insert(0, recorder.folder.rstrip("/"))
    sys.modules.pop("main", None)
    sys.setprofile(recorder)
    try:
        importlib.import_module("main")
    finally:
        sys.setprofile(None)
        sys.path.pop(0)
    for name in set(sys.modules) - known:
        home = getattr(sys.modules[name], "__file__", None) or ""
        if home.startswith(recorder.folder):
            del sys.modules[name]
    importlib.invalidate_caches()
    return sorted(recorder.calls)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    real, sys.stdout = sys.stdout, sys.stderr  # what the programs print is not the answer
    for argument in sys.argv[1:]:
        print(json.dumps(record(argument)), file=real)
