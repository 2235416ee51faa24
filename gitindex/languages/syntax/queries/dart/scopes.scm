; Scopes of Dart: local names, receivers, declared types, bases. The vocabulary is that of scopes/read.py.

(function_expression) @scope.function
[(class_definition) (mixin_declaration) (extension_declaration) (enum_declaration)] @scope.class
[(block) (for_statement) (try_statement)] @scope.block

(function_expression parameters: (formal_parameter_list (formal_parameter name: (identifier) @bind.param)))
(function_expression parameters: (formal_parameter_list (formal_parameter (identifier) @bind.param)))
(local_variable_declaration (initialized_variable_definition . (type_identifier) @type . name: (identifier) @bind.var)) @from
(local_variable_declaration (initialized_variable_definition name: (identifier) @bind.var)) @from
(for_loop_parts name: (identifier) @bind.var)
(catch_parameters (identifier) @bind.pattern)

(label (identifier) @key)

(selector [
  (unconditional_assignable_selector (identifier) @of)
  (conditional_assignable_selector (identifier) @of)
]) @receiver
(cascade_section (cascade_selector (identifier) @of)) @receiver
((super) @receiver . (unconditional_assignable_selector (identifier) @of))

(declaration (type_identifier) @type . (initialized_identifier_list (initialized_identifier . (identifier) @typed)))
(function_signature . (type_identifier) @type . name: (identifier) @typed)
(getter_signature . (type_identifier) @type . name: (identifier) @typed)

(class_definition name: (identifier) @head superclass: (superclass (type_identifier) @base))
(class_definition name: (identifier) @head superclass: (superclass (mixins (type_identifier) @base)))
(class_definition name: (identifier) @head interfaces: (interfaces (type_identifier) @base))
(mixin_declaration (identifier) @head (interfaces (type_identifier) @base))
