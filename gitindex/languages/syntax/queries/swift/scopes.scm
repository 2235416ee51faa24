; Scopes of Swift: local names, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

[
  (function_declaration)
  (init_declaration)
  (subscript_declaration)
  (lambda_literal)
  (computed_property)
] @scope.function
[(class_declaration) (protocol_declaration)] @scope.class
[(statements) (for_statement) (if_statement) (while_statement) (switch_entry) (catch_block)] @scope.block

(type_parameter . (type_identifier) @bind.typeparam)
(parameter name: (simple_identifier) @bind.param)
(parameter name: (simple_identifier) @bind.param (user_type) @type)
(lambda_parameter name: (simple_identifier) @bind.param)
(lambda_parameter name: (simple_identifier) @bind.param (user_type) @type)
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @bind.var)
  (type_annotation (_) @type)) @from)
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @bind.var)
  value: (_) @value) @from)
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @bind.var)) @from)
(for_statement item: (pattern bound_identifier: (simple_identifier) @bind.pattern))
(if_statement bound_identifier: (simple_identifier) @bind.pattern)
(while_statement bound_identifier: (simple_identifier) @bind.pattern)
(guard_statement bound_identifier: (simple_identifier) @bind.pattern) @from
(switch_pattern (pattern (pattern bound_identifier: (simple_identifier) @bind.pattern)))
(catch_block error: (pattern bound_identifier: (simple_identifier) @bind.pattern))

(value_argument_label (simple_identifier) @key)
(parameter external_name: (simple_identifier) @key)

(navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @of))
(user_type (type_identifier) @receiver . (type_identifier) @of)

(property_declaration name: (pattern bound_identifier: (simple_identifier) @typed) (type_annotation (_) @type))
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @typed)
  (type_annotation (_) @type))
(function_declaration name: (simple_identifier) @typed (user_type) @type)

(class_declaration name: (type_identifier) @head (inheritance_specifier inherits_from: (_) @base))
(protocol_declaration name: (type_identifier) @head (inheritance_specifier inherits_from: (_) @base))
(typealias_declaration name: (type_identifier) @head (user_type) @alias)
