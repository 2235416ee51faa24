; Scopes of Java. The vocabulary is that of scopes/read.py.

[
  (method_declaration)
  (constructor_declaration)
  (compact_constructor_declaration)
  (lambda_expression)
] @scope.function
[
  (class_declaration)
  (interface_declaration)
  (enum_declaration)
  (record_declaration)
  (annotation_type_declaration)
  (class_body)
] @scope.class
[
  (block)
  (for_statement)
  (enhanced_for_statement)
  (switch_block)
  (switch_rule)
  (try_with_resources_statement)
  (catch_clause)
] @scope.block

(class_declaration name: (_) @bind.class)
(interface_declaration name: (_) @bind.class)
(enum_declaration name: (_) @bind.class)
(record_declaration name: (_) @bind.class)
(type_parameter . (type_identifier) @bind.typeparam)

(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @bind.member))
(constant_declaration type: (_) @type declarator: (variable_declarator name: (_) @bind.member))
(enum_constant name: (_) @bind.member)
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @bind.member)))
(formal_parameter type: (_) @type name: (_) @bind.param)
(spread_parameter (variable_declarator name: (_) @bind.rest))
(spread_parameter (_) @type . "..." (variable_declarator name: (_) @bind.rest))
(lambda_expression parameters: (identifier) @bind.param)
(inferred_parameters (identifier) @bind.param)
(catch_formal_parameter name: (_) @bind.param)
(catch_formal_parameter (catch_type . (_) @type .) name: (_) @bind.param)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @bind.var))
(local_variable_declaration type: (_) @type
  declarator: (variable_declarator name: (_) @bind.var value: (_) @value))
(enhanced_for_statement type: (_) @type name: (_) @bind.var value: (_) @each)
(resource type: (_) @type name: (_) @bind.var)
(instanceof_expression right: (_) @type name: (_) @bind.pattern)
(type_pattern (_) @type (identifier) @bind.pattern)
(record_pattern_component (_) @type (identifier) @bind.pattern)

(element_value_pair key: (_) @key)
(labeled_statement . (identifier) @label)
(break_statement (identifier) @label)
(continue_statement (identifier) @label)

(assignment_expression left: (field_access object: (_) @object field: (identifier) @field) right: (_) @value)

[(line_comment) (block_comment)] @comment
[(string_literal) (character_literal)] @string
(method_invocation name: (identifier) @_access arguments: (argument_list (string_literal) @dynamic)
  (#any-of? @_access "getMethod" "getDeclaredMethod" "getField" "getDeclaredField" "forName" "findVirtual"
    "findStatic" "loadClass" "newUpdater" "findVarHandle" "findGetter" "findSetter"))

(method_invocation object: (_) @receiver name: (_) @of)
(field_access object: (_) @receiver field: (_) @of)
(scoped_identifier scope: (_) @receiver name: (_) @of)
(scoped_type_identifier . (_) @receiver (type_identifier) @of .)
(method_reference . (_) @receiver (identifier) @of .)

(method_declaration type: (_) @type name: (_) @typed)
(annotation_type_element_declaration type: (_) @type name: (_) @typed)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @typed))
(constant_declaration type: (_) @type declarator: (variable_declarator name: (_) @typed))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @typed)))

(class_declaration name: (_) @head superclass: (superclass (_) @base))
(class_declaration name: (_) @head interfaces: (super_interfaces (type_list (_) @base)))
(record_declaration name: (_) @head interfaces: (super_interfaces (type_list (_) @base)))
(enum_declaration name: (_) @head interfaces: (super_interfaces (type_list (_) @base)))
(interface_declaration name: (_) @head (extends_interfaces (type_list (_) @base)))
