; Scopes of C#: local names, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

[
  (method_declaration)
  (constructor_declaration)
  (destructor_declaration)
  (operator_declaration)
  (conversion_operator_declaration)
  (indexer_declaration)
  (accessor_declaration)
  (local_function_statement)
  (lambda_expression)
  (anonymous_method_expression)
] @scope.function
[
  (class_declaration)
  (struct_declaration)
  (record_declaration)
  (interface_declaration)
] @scope.class
[
  (block)
  (for_statement)
  (foreach_statement)
  (using_statement)
  (fixed_statement)
  (catch_clause)
  (switch_section)
  (switch_expression_arm)
] @scope.block

(type_parameter name: (identifier) @bind.typeparam)
(parameter type: (_) @type name: (identifier) @bind.param)
(parameter !type name: (identifier) @bind.param)
(implicit_parameter) @bind.param
(local_declaration_statement (variable_declaration type: (_) @type
  (variable_declarator name: (identifier) @bind.var . (_)? @value)))
(for_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @bind.var)))
(using_statement (variable_declaration type: (_) @type
  (variable_declarator name: (identifier) @bind.var . (_)? @value)))
(foreach_statement type: (_) @type left: (identifier) @bind.var)
(catch_declaration type: (_) @type name: (identifier) @bind.param)
(declaration_pattern type: (_) @type name: (identifier) @bind.pattern)
(declaration_expression type: (_) @type name: (identifier) @bind.pattern)

(argument name: (identifier) @key)
(initializer_expression (assignment_expression left: (identifier) @key))
(object_creation_expression type: (_) @receiver
  initializer: (initializer_expression (assignment_expression left: (identifier) @of)))

(member_access_expression expression: _ @receiver name: (identifier) @of)
(member_access_expression expression: _ @receiver name: (generic_name (identifier) @of))
(member_binding_expression name: (identifier) @of) @receiver
(qualified_name qualifier: (_) @receiver name: (identifier) @of)
(qualified_name qualifier: (_) @receiver name: (generic_name (identifier) @of))

(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @typed)))
(property_declaration type: (_) @type name: (identifier) @typed)
(method_declaration returns: (_) @type name: (identifier) @typed)
(local_function_statement type: (_) @type name: (identifier) @typed)
(record_declaration (parameter_list (parameter type: (_) @type name: (identifier) @typed)))

(_ name: (identifier) @head (base_list (_) @base))
