; Variables of C functions. Not all names of C are modelled: these scopes exclude, and certify nothing.

(function_definition) @scope.function
[(compound_statement) (for_statement)] @scope.block

; Parameters of a prototype, of a function pointer and of a type are seen nowhere else.
(declaration declarator: (function_declarator parameters: (_) @scope.function))
(declaration declarator: (pointer_declarator (function_declarator parameters: (_) @scope.function)))
(declaration declarator: (init_declarator declarator: (function_declarator parameters: (_) @scope.function)))
(field_declaration declarator: (function_declarator parameters: (_) @scope.function))
(field_declaration declarator: (pointer_declarator (function_declarator parameters: (_) @scope.function)))
(type_definition declarator: (function_declarator parameters: (_) @scope.function))
(type_definition declarator: (pointer_declarator (function_declarator parameters: (_) @scope.function)))
(parameter_declaration declarator: (function_declarator parameters: (_) @scope.function))
(abstract_function_declarator parameters: (_) @scope.function)

(parameter_declaration type: (_) @type declarator: (_) @bind.param)
(function_definition (declaration declarator: (_) @bind.param))

; A local prototype and `extern` name something of the file, or of another one.
((declaration type: (_) @type declarator: [
    (identifier)
    (init_declarator)
    (array_declarator)
    (pointer_declarator declarator: [(identifier) (array_declarator) (pointer_declarator)])
    (function_declarator declarator: (parenthesized_declarator))
  ] @bind.var) @_all
  (#not-match? @_all "^extern"))

(labeled_statement label: (_) @label)
(goto_statement label: (_) @label)

(field_expression argument: (_) @receiver field: (_) @of)
(field_designator (field_identifier) @key)
(declaration type: (_) @receiver declarator: (init_declarator value: (initializer_list
  (initializer_pair designator: (field_designator (field_identifier) @of)))))

(field_declaration type: (_) @type declarator: (field_identifier) @typed)
(field_declaration type: (_) @type declarator: (pointer_declarator declarator: (field_identifier) @typed))
(function_definition type: (_) @type declarator: (function_declarator declarator: (identifier) @typed))
(function_definition type: (_) @type
  declarator: (pointer_declarator (function_declarator declarator: (identifier) @typed)))
(type_definition type: (_) @alias declarator: (type_identifier) @head)
