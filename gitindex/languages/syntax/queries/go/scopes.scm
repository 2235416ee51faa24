; Scopes of Go. The vocabulary is that of scopes/read.py.

[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (function_type)
  (method_elem)
] @scope.function
[(type_spec) (type_alias)] @scope.class
[
  (block)
  (if_statement)
  (for_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (select_statement)
  (expression_case)
  (type_case)
  (default_case)
  (communication_case)
] @scope.block

(function_declaration name: (_) @bind.function)
(type_spec name: (_) @bind.class)
(type_alias name: (_) @bind.class)
(type_parameter_declaration name: (_) @bind.typeparam)
(method_declaration receiver: (parameter_list (parameter_declaration
  type: (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.typeparam))))))
(method_declaration receiver: (parameter_list (parameter_declaration
  type: (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.typeparam)))))))

(parameter_declaration name: (identifier) @bind.param type: (_) @type)
(variadic_parameter_declaration name: (identifier) @bind.rest type: (_) @type)
(short_var_declaration left: (_) @bind.var right: (_) @value) @from
(var_spec name: (identifier) @bind.var type: (_) @type) @from
(var_spec name: (identifier) @bind.var value: (_) @value) @from
(var_spec (identifier) @bind.var) @from
(const_spec (identifier) @bind.var) @from
(range_clause left: (_) @bind.var ":=" right: (_) @each) @from
(receive_statement left: (_) @bind.var ":=") @from
(type_switch_statement alias: (_) @bind.var)

(import_spec name: (package_identifier) @bind.import)
(import_spec name: (dot) @star)
(keyed_element key: (literal_element (identifier) @key))

(comment) @comment
[(interpreted_string_literal) (raw_string_literal)] @string
(call_expression function: (selector_expression field: (field_identifier) @_access)
  arguments: (argument_list [(interpreted_string_literal) (raw_string_literal)] @dynamic)
  (#any-of? @_access "MethodByName" "FieldByName" "Lookup" "ExecuteTemplate"))
(label_name) @label

(selector_expression operand: (_) @receiver field: (_) @of)
(qualified_type package: (_) @receiver name: (_) @of)

(function_declaration name: (_) @typed result: (_) @type)
(method_declaration name: (_) @typed result: (_) @type)
(method_elem name: (_) @typed result: (_) @type)
(field_declaration name: (_) @typed type: (_) @type)

(type_spec name: (_) @head type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base))))
(type_spec name: (_) @head type: (interface_type (type_elem . (_) @base .)))
