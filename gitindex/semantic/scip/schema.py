"""The part of SCIP's protobuf schema that is used here, built in code instead of generated.

The only module that imports `protobuf`, which is an optional dependency.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gitindex.base.extras import missing_extra

_PACKAGE = "gitindex.scip"
_NUMBER, _TEXT, _FLAG = "int32", "string", "bool"
_EXTERNAL_SYMBOLS = 3  # of an index: not read

_MESSAGES: dict[str, tuple[tuple[int, str, str, bool], ...]] = {
    # number, name, type (a scalar or a message of this table), repeated
    "ToolInfo": ((1, "name", _TEXT, False), (2, "version", _TEXT, False)),
    "Metadata": (
        (2, "tool_info", "ToolInfo", False),
        (3, "project_root", _TEXT, False),
        (4, "text_document_encoding", _NUMBER, False),
    ),
    "Relationship": (
        (1, "symbol", _TEXT, False),
        (2, "is_reference", _FLAG, False),
        (3, "is_implementation", _FLAG, False),
        (4, "is_type_definition", _FLAG, False),
        (5, "is_definition", _FLAG, False),
    ),
    "Signature": ((5, "text", _TEXT, False),),
    "SymbolInformation": (
        (1, "symbol", _TEXT, False),
        (3, "documentation", _TEXT, True),
        (4, "relationships", "Relationship", True),
        (7, "signature_documentation", "Signature", False),
    ),
    "Occurrence": (
        (1, "range", _NUMBER, True),
        (2, "symbol", _TEXT, False),
        (3, "symbol_roles", _NUMBER, False),
        (7, "enclosing_range", _NUMBER, True),
    ),
    "Document": (
        (1, "relative_path", _TEXT, False),
        (2, "occurrences", "Occurrence", True),
        (3, "symbols", "SymbolInformation", True),
        (4, "language", _TEXT, False),
        (6, "position_encoding", _NUMBER, False),
    ),
    "Index": ((1, "metadata", "Metadata", False), (2, "documents", "Document", True)),
}


@lru_cache(maxsize=1)
def messages() -> dict[str, Any]:
    """Return the message classes by name."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise missing_extra("reading SCIP", "semantic") from error
    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {_NUMBER: kinds.TYPE_INT32, _TEXT: kinds.TYPE_STRING, _FLAG: kinds.TYPE_BOOL}
    file = descriptor_pb2.FileDescriptorProto(name="gitindex_scip.proto", package=_PACKAGE)
    file.syntax = "proto3"
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in scalars:
                field.type = scalars[kind]
            else:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


def parse_index(data: bytes) -> Any:
    """Return the wire form of an index as a message. ValueError if the bytes are not one."""
    index = messages()["Index"]()
    from google.protobuf.message import DecodeError
    from google.protobuf.unknown_fields import UnknownFieldSet

    try:
        index.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    fields: Any = UnknownFieldSet(index)
    unknown = {field.field_number for field in fields} - {_EXTERNAL_SYMBOLS}
    if unknown:
        raise ValueError(f"SCIP has no field {min(unknown)}")
    return index
