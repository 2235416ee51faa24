; Qualified names and fields of OCaml. The vocabulary is that of scopes/read.py.

(value_path (module_path) @receiver (value_name) @of)
(type_constructor_path (extended_module_path) @receiver (type_constructor) @of)
(field_get_expression record: (_) @receiver field: (field_path (field_name) @of))
