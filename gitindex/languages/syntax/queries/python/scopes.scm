; Scopes, what binds a name in them, and what is no code. The vocabulary is that of scopes/read.py.

(function_definition) @scope.function
(lambda) @scope.function
(class_definition) @scope.class
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope.comprehension

; Read in the scope around, although they stand inside.
(default_parameter value: (_) @scope.outer)
(typed_default_parameter value: (_) @scope.outer)
(typed_default_parameter type: (_) @scope.outer)
(typed_parameter type: (_) @scope.outer)
(function_definition return_type: (_) @scope.outer)
(class_definition superclasses: (_) @scope.outer)
(list_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(set_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(dictionary_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(generator_expression body: (_) . (for_in_clause right: (_) @scope.outer))

(function_definition name: (identifier) @bind.function)
(function_definition name: (identifier) @typed return_type: (_) @type)
(assignment left: (identifier) @typed right: (call
  function: [(identifier) @_variable (attribute attribute: (identifier) @_variable)]
  arguments: (argument_list (keyword_argument name: (identifier) @_bound value: (_) @type)))
  (#eq? @_variable "TypeVar") (#eq? @_bound "bound"))
(class_definition name: (identifier) @bind.class)
(_ type_parameters: (type_parameter (type [(identifier) @bind.typeparam (splat_type (identifier) @bind.typeparam)])))
(_ type_parameters: (type_parameter (type (constrained_type . (type (identifier) @bind.typeparam)))))
(type_alias_statement left: (type) @bind.type)

[(parameters (identifier) @bind.param) (lambda_parameters (identifier) @bind.param)]
(default_parameter name: (_) @bind.param value: (_) @value)
(typed_default_parameter name: (_) @bind.param type: (_) @type value: (_) @value)
(typed_parameter . (_) @bind.param type: (_) @type)
[(parameters (list_splat_pattern) @bind.rest) (parameters (dictionary_splat_pattern) @bind.rest)]
[(lambda_parameters (list_splat_pattern) @bind.rest) (lambda_parameters (dictionary_splat_pattern) @bind.rest)]
(parameters (tuple_pattern) @bind.param)

(assignment left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @bind.var right: (_) @value)
(assignment left: (identifier) @bind.var type: (_) @type)
(assignment left: (identifier) @bind.var type: (_) @type right: (_) @value)
(augmented_assignment left: (identifier) @bind.var)
(delete_statement (identifier) @bind.var)
(delete_statement (expression_list (identifier) @bind.var))
(named_expression name: (identifier) @bind.hoist value: (_) @value)
(for_statement left: (_) @bind.var right: (_) @each)
(for_in_clause left: (_) @bind.var right: (_) @each)
(with_item value: (as_pattern . (_) @value alias: (as_pattern_target (_) @bind.var)))
(except_clause value: (as_pattern . (_) @type alias: (as_pattern_target (_) @bind.var)))
(case_pattern (dotted_name . (identifier) @bind.var .))
(keyword_pattern (identifier) @member)
(keyword_pattern (dotted_name . (identifier) @bind.var .))
(union_pattern (dotted_name . (identifier) @bind.var .))
(as_pattern (case_pattern) (identifier) @bind.var)
(splat_pattern (identifier) @bind.var)

(import_statement name: (dotted_name . (identifier) @bind.import))
(import_statement name: (aliased_import alias: (identifier) @bind.import))
(import_from_statement name: (dotted_name . (identifier) @bind.import))
(import_from_statement name: (aliased_import alias: (identifier) @bind.import))
(import_from_statement (wildcard_import) @star)

(global_statement (identifier) @global)
(nonlocal_statement (identifier) @nonlocal)
(keyword_argument name: (identifier) @key)
(call function: (_) @holder arguments: (argument_list (keyword_argument name: (identifier) @given)))

(assignment left: (attribute object: (_) @object attribute: (identifier) @field) right: (_) @value)
(assignment left: (attribute object: (_) @object attribute: (identifier) @field) type: (_) @type)

(class_definition name: (identifier) @head superclasses: (argument_list (_) @base))
(class_definition name: (identifier) @head superclasses: (argument_list
  (keyword_argument name: (identifier) @_meta value: (_) @decorator)) (#eq? @_meta "metaclass"))
(decorated_definition (decorator (_) @decorator) definition: (_ name: (identifier) @head))
(parameters (positional_separator) @slash)

(comment) @comment
(string_content) @string
(call function: [(identifier) @_access (attribute attribute: (identifier) @_access)]
  arguments: (argument_list) @dynamic
  (#any-of? @_access "getattr" "setattr" "hasattr" "delattr" "attrgetter" "methodcaller" "import_module"
    "__import__" "__getattribute__" "__setattr__" "import_string" "import_object" "load_entry_point"
    "resolve_name" "locate"))
(call function: [(identifier) @_access (attribute attribute: (identifier) @_access)]
  arguments: (argument_list [(string) @dynamic (parenthesized_expression) @dynamic])
  (#any-of? @_access "patch" "object" "setitem" "dict"))
(call function: (identifier) @_run arguments: (argument_list) @evaluated
  (#any-of? @_run "eval" "exec" "compile"))
(call function: (attribute object: (string) @evaluated attribute: (identifier) @_run)
  (#any-of? @_run "split" "splitlines"))
(call function: [(identifier) @_variable (attribute attribute: (identifier) @_variable)]
  arguments: (argument_list . (string) @named)
  (#any-of? @_variable "TypeVar" "ParamSpec" "TypeVarTuple"))
(call function: [(identifier) @_variable (attribute attribute: (identifier) @_variable)]
  arguments: (argument_list (keyword_argument name: (identifier) @_bound value: (string) @annotation))
  (#any-of? @_variable "TypeVar" "ParamSpec" "TypeVarTuple") (#eq? @_bound "bound"))
(type [(string) @annotation (binary_operator (string) @annotation) (subscript subscript: (string) @annotation)])
(type (subscript subscript: (subscript subscript: (string) @annotation)))
(expression_statement . (string) @docstring .)
(assignment left: (identifier) @_all right: (_) @exported (#eq? @_all "__all__"))
(augmented_assignment left: (identifier) @_all right: (_) @exported (#eq? @_all "__all__"))
(subscript value: (call function: (identifier) @_access (#any-of? @_access "globals" "locals" "vars"))
  subscript: (_) @dynamic)
(subscript value: (attribute attribute: (identifier) @_access (#any-of? @_access "__dict__" "modules"))
  subscript: (_) @dynamic)

(attribute object: (_) @receiver attribute: (_) @of)
