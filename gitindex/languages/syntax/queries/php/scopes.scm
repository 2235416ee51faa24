; Scopes of PHP: variables, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

[
  (function_definition)
  (method_declaration)
  (anonymous_function)
  (arrow_function)
] @scope.function
[
  (class_declaration)
  (interface_declaration)
  (trait_declaration)
  (enum_declaration)
  (anonymous_class)
] @scope.class

(simple_parameter type: (_)? @type name: (variable_name) @bind.param)
(property_promotion_parameter type: (_)? @type name: (variable_name) @bind.param)
(assignment_expression left: (variable_name) @bind.var right: (_) @value)
(foreach_statement (_) (variable_name) @bind.var)
(foreach_statement (pair (variable_name) @bind.var))
(catch_clause name: (variable_name) @bind.var)
(global_declaration (variable_name) @global)

(argument name: (name) @key)

(member_access_expression object: (_) @receiver name: (name) @of)
(nullsafe_member_access_expression object: (_) @receiver name: (name) @of)
(member_call_expression object: (_) @receiver name: (name) @of)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @of)
(scoped_call_expression scope: (_) @receiver name: (name) @of)
(class_constant_access_expression . (_) @receiver (name) @of .)
(scoped_property_access_expression scope: (_) @receiver name: (variable_name (name) @of))

(property_declaration type: (_) @type (property_element name: (variable_name (name) @typed)))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @typed))
(function_definition name: (name) @typed return_type: (_) @type)
(method_declaration name: (name) @typed return_type: (_) @type)

(class_declaration name: (name) @head (base_clause (_) @base))
(class_declaration name: (name) @head (class_interface_clause (_) @base))
(interface_declaration name: (name) @head (base_clause (_) @base))
(enum_declaration name: (name) @head (class_interface_clause (_) @base))
(_ name: (name) @head body: (declaration_list (use_declaration (_) @base)))
