; Scopes of Kotlin: local names, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

[
  (function_declaration)
  (secondary_constructor)
  (lambda_literal)
  (anonymous_function)
  (getter)
  (setter)
] @scope.function
[(class_declaration) (object_declaration) (companion_object) (object_literal)] @scope.class
[(block) (for_statement) (catch_block) (when_expression) (when_entry)] @scope.block

(type_parameter (identifier) @bind.typeparam)
(function_value_parameters (parameter (identifier) @bind.param (_) @type))
(anonymous_function (function_value_parameters (parameter (identifier) @bind.param)))
(lambda_parameters (variable_declaration . (identifier) @bind.param (_)? @type))
(setter (identifier) @bind.param)
(block (property_declaration (variable_declaration . (identifier) @bind.var . (_)? @type)) @from)
(block (property_declaration (variable_declaration . (identifier) @bind.var .) . (_) @value) @from)
(block (property_declaration (multi_variable_declaration (variable_declaration . (identifier) @bind.var))) @from)
(lambda_literal (property_declaration (variable_declaration . (identifier) @bind.var . (_)? @type)) @from)
(for_statement (variable_declaration . (identifier) @bind.var . (_)? @type))
(for_statement (multi_variable_declaration (variable_declaration . (identifier) @bind.var)))
(catch_block (identifier) @bind.param (_) @type)

(value_argument . (identifier) @key . (_) .)

(navigation_expression . (_) @receiver (identifier) @of .)
(user_type (identifier) @receiver . (identifier) @of)

(class_parameter (identifier) @typed (_) @type)
(property_declaration (variable_declaration . (identifier) @typed . (_) @type))
(function_declaration name: (identifier) @typed (function_value_parameters) . [(user_type) (nullable_type)] @type)

(class_declaration name: (identifier) @head (delegation_specifiers (delegation_specifier . (_) @base)))
(object_declaration name: (identifier) @head (delegation_specifiers (delegation_specifier . (_) @base)))
(type_alias type: (identifier) @head (_) @alias)
