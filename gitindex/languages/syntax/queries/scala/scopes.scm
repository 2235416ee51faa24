; Scopes of Scala: local names, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

[(function_definition) (function_declaration) (lambda_expression)] @scope.function
[
  (class_definition)
  (object_definition)
  (trait_definition)
  (enum_definition)
  (template_body)
] @scope.class
[(block) (indented_block) (case_clause) (for_expression) (catch_clause)] @scope.block

(type_parameters name: (_) @bind.typeparam)
(parameter name: (identifier) @bind.param type: (_) @type)
(lambda_expression parameters: (identifier) @bind.param)
(binding name: (identifier) @bind.param type: (_)? @type)
(block (val_definition pattern: (identifier) @bind.var type: (_)? @type value: (_)? @value) @from)
(block (var_definition pattern: (identifier) @bind.var type: (_)? @type value: (_)? @value) @from)
(indented_block (val_definition pattern: (identifier) @bind.var type: (_)? @type value: (_)? @value) @from)
(indented_block (var_definition pattern: (identifier) @bind.var type: (_)? @type value: (_)? @value) @from)
(block (val_definition pattern: (tuple_pattern (identifier) @bind.pattern)) @from)
(enumerator . (identifier) @bind.pattern)
(typed_pattern pattern: (identifier) @bind.pattern type: (_) @type)
(case_class_pattern pattern: (identifier) @bind.pattern)
(case_clause pattern: (identifier) @bind.pattern)

(arguments (assignment_expression left: (identifier) @key))

(field_expression value: (_) @receiver field: (identifier) @of)
(stable_type_identifier (_) @receiver . (type_identifier) @of)

(class_parameter name: (identifier) @typed type: (_) @type)
(val_definition pattern: (identifier) @typed type: (_) @type)
(var_definition pattern: (identifier) @typed type: (_) @type)
(val_declaration name: (identifier) @typed type: (_) @type)
(var_declaration name: (identifier) @typed type: (_) @type)
(function_definition name: (identifier) @typed return_type: (_) @type)
(function_declaration name: (identifier) @typed return_type: (_) @type)

(_ name: (identifier) @head extend: (extends_clause (_) @base))
(type_definition name: (type_identifier) @head type: (_) @alias)
