; Scopes of Rust: local names, receivers, declared types. The vocabulary is that of scopes/read.py.

[(function_item) (function_signature_item) (closure_expression)] @scope.function
[(impl_item) (trait_item) (struct_item) (enum_item)] @scope.class
[(block) (match_arm) (if_expression) (while_expression) (for_expression)] @scope.block

(type_parameter name: (type_identifier) @bind.typeparam)
(parameter pattern: (identifier) @bind.param type: (_) @type)
(parameter pattern: (mut_pattern (identifier) @bind.param) type: (_) @type)
(closure_parameters (identifier) @bind.param)
(let_declaration pattern: (identifier) @bind.var type: (_)? @type value: (_)? @value) @from
(let_declaration pattern: (mut_pattern (identifier) @bind.var) type: (_)? @type value: (_)? @value) @from
(let_declaration pattern: (tuple_pattern (identifier) @bind.var)) @from
(for_expression pattern: (identifier) @bind.pattern)
(for_expression pattern: (tuple_pattern (identifier) @bind.pattern))
(tuple_struct_pattern (identifier) @bind.pattern . )
(match_pattern . (identifier) @bind.pattern)

(struct_expression name: (_) @receiver
  body: (field_initializer_list (field_initializer field: (field_identifier) @of)))
(struct_pattern type: (_) @receiver (field_pattern name: (field_identifier) @of))
(shorthand_field_initializer (identifier) @key)
(field_pattern name: (shorthand_field_identifier) @key)

(token_tree ["." "::"] @receiver . (identifier) @of)
(field_expression value: (_) @receiver field: (field_identifier) @of)
(scoped_identifier path: (_) @receiver name: (identifier) @of)
(scoped_type_identifier path: (_) @receiver name: (type_identifier) @of)

(field_declaration name: (field_identifier) @typed type: (_) @type)
(function_item name: (identifier) @typed return_type: (_) @type)
(function_signature_item name: (identifier) @typed return_type: (_) @type)
(const_item name: (identifier) @typed type: (_) @type)
(static_item name: (identifier) @typed type: (_) @type)

(trait_item name: (type_identifier) @head bounds: (trait_bounds (_) @base))
(type_item name: (type_identifier) @head type: (_) @alias)
