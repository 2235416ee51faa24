"""What languages other than Python and JavaScript offer to run text or to reach names that are computed."""

from __future__ import annotations

from gitindex.languages.facts import Use
from gitindex.languages.syntax.flags.reading import Detector, Reading, is_literal

_JVM = (
    "getMethod getDeclaredMethod getField getDeclaredField forName findVirtual findStatic loadClass"
)
_EVALUATES = {
    "ruby": "eval instance_eval class_eval module_eval",
    "php": "eval create_function",
    "lua": "load loadstring",
    "bash": "eval",
    "elixir": "eval_string eval_quoted eval_file",
    "julia": "eval include_string",
    "java": "eval",
    "kotlin": "eval",
    "csharp": "EvaluateAsync CompileAssemblyFromSource",
}
"""Functions that run text as code."""
_REACHES = {
    "ruby": "send public_send __send__ const_get const_set instance_variable_get instance_variable_set "
    "method define_method respond_to? constantize instance_method",
    "php": "call_user_func call_user_func_array method_exists property_exists is_callable function_exists",
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
    "csharp": "GetMethod GetProperty GetField InvokeMember CreateInstance GetMember",
    "go": "MethodByName FieldByName",
    "swift": "NSSelectorFromString NSClassFromString",
    "elixir": "apply to_existing_atom to_atom",
    "julia": "getfield setfield! getproperty setproperty!",
    "lua": "rawget rawset",
    "c": "dlsym GetProcAddress",
    "cpp": "dlsym GetProcAddress invokeMethod",
}
"""Functions that take the name of a member; a literal one is a string that answers list anyway."""
_REBINDS = {
    "ruby": "refine remove_method undef_method remove_const alias_method_chain class_eval module_eval",
    "swift": "method_exchangeImplementations class_replaceMethod",
    "php": "runkit_method_redefine class_alias",
    "lua": "setfenv",
}
"""Functions that replace members of others."""
_HOOKS = {
    "ruby": "method_missing const_missing respond_to_missing?",
    "php": "__call __callStatic __get __set",
    "dart": "noSuchMethod",
}
"""Methods that the language calls for members that do not exist."""
_LOMBOK = (
    "Data",
    "Builder",
    "Getter",
    "Setter",
    "Value",
    "AllArgsConstructor",
    "RequiredArgsConstructor",
)


def eval_exec(reading: Reading) -> bool:
    """Is text run as code?"""
    return _calls(reading, _EVALUATES)


def dynamic_attribute(reading: Reading) -> bool:
    """Is a member reached by a computed name, or by a hook?"""
    if "flag.dynamic_attribute" in reading.captures or _pastes(reading):
        return True
    hooks = _HOOKS.get(reading.language, "").split()
    if any(reading.has(name, Use.DEFINITION) for name in hooks):
        return True
    return any(
        not any(map(is_literal, reading.arguments(at)))
        for name in _REACHES.get(reading.language, "").split()
        for at in reading.offsets(name, Use.CALL)
    )


def _pastes(reading: Reading) -> bool:
    """Does a macro of C make names of parts? Its body is one leaf of the tree."""
    return reading.language in ("c", "cpp") and any(
        b"##" in reading.data[scope.start : scope.end]
        for scope in reading.outline.found
        if scope.kind == "macro"
    )


def monkey_patch(reading: Reading) -> bool:
    """Is a member of something else replaced?"""
    return _calls(reading, _REBINDS)


def generated_member(reading: Reading) -> bool:
    """Do annotations give a class members that its own code does not define?"""
    return reading.language == "java" and any(reading.has(name, Use.DECORATOR) for name in _LOMBOK)


def _calls(reading: Reading, names: dict[str, str]) -> bool:
    return any(reading.has(name, Use.CALL) for name in names.get(reading.language, "").split())


DETECTORS: dict[str, Detector] = {
    "eval_exec": eval_exec,
    "dynamic_attribute": dynamic_attribute,
    "monkey_patch": monkey_patch,
    "generated_member": generated_member,
}
