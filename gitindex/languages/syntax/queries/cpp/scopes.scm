; What C++ adds to the scopes of C.

(lambda_expression) @scope.function
[(class_specifier) (struct_specifier)] @scope.class
[(for_range_loop) (if_statement) (while_statement) (switch_statement) (catch_clause)] @scope.block

(type_parameter_declaration (type_identifier) @bind.typeparam)
(optional_parameter_declaration type: (_) @type declarator: (_) @bind.param)
(for_range_loop type: (_) @type declarator: (_) @bind.var)
(condition_clause value: (declaration type: (_) @type declarator: (_) @bind.pattern))

(qualified_identifier scope: (_) @receiver name: (_) @of)
(field_initializer . (field_identifier) @key)

(class_specifier name: (type_identifier) @head (base_class_clause (_) @base))
(struct_specifier name: (type_identifier) @head (base_class_clause (_) @base))
(alias_declaration name: (type_identifier) @head type: (type_descriptor type: (_) @alias))
