; What JavaScript and TypeScript share.

(function_declaration name: (identifier) @name body: (_) @body) @def.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @def.function
(method_definition
  name: [
    (property_identifier) @name
    (private_property_identifier) @name
    (string) @name.marked
    (computed_property_name (string) @name.marked)
    (computed_property_name [(identifier) (member_expression)]) @name.text
  ]
  body: (_) @body) @def.method
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @def.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @def.class
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @def.constant)
(variable_declarator name: (identifier) @name) @def.variable
(variable_declarator name: (object_pattern [
  (shorthand_property_identifier_pattern) @name
  (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
  (pair_pattern value: [(identifier) @name (assignment_pattern left: (identifier) @name)])
  (pair_pattern value: (object_pattern (shorthand_property_identifier_pattern) @name))
  (rest_pattern (identifier) @name)
])) @def.variable
(variable_declarator name: (array_pattern [
  (identifier) @name
  (assignment_pattern left: (identifier) @name)
  (object_pattern (shorthand_property_identifier_pattern) @name)
])) @def.variable

(assignment_expression left: (identifier) @name right: [
  (function_expression body: (_) @body)
  (arrow_function body: (_) @body)
]) @def.function
(arguments (function_expression name: (identifier) @name body: (_) @body) @def.function)
(return_statement (function_expression name: (identifier) @name body: (_) @body) @def.function)

; Objects whose members are functions.
(variable_declarator name: (identifier) @name value: (object) @body) @def.object
(variable_declarator value: (object (pair
  key: [(property_identifier) @name (string) @name.marked]
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.method))
(assignment_expression right: (object (pair
  key: [(property_identifier) @name (string) @name.marked]
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.method))
(export_statement value: (object (pair
  key: [(property_identifier) @name (string) @name.marked]
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.method))
(call_expression
  function: (member_expression property: (property_identifier) @_assign)
  arguments: (arguments (object (pair
    key: [(property_identifier) @name (string) @name.marked]
    value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.method))
  (#eq? @_assign "assign"))

; Constructors and prototypes of old: `A.prototype.b = function`, `exports.c = function`.
(assignment_expression
  left: (member_expression) @name.path
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.function
(assignment_expression
  left: (subscript_expression index: (string) @name.marked)
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @def.function
(assignment_expression
  left: (member_expression) @name.path
  right: (class body: (_) @body)) @def.class

(assignment_expression
  left: (member_expression object: (member_expression
    property: (property_identifier) @_prototype)) @name.path
  (#eq? @_prototype "prototype")) @def.method

(export_statement) @export
[(arrow_function) (function_expression) (generator_function)] @local
[(if_statement) (try_statement) (switch_statement)] @guard
(comment) @comment
(decorator) @attached

(import_statement) @import
(export_statement source: (string)) @import
(call_expression
  function: [(identifier) @_load (import) @_load]
  arguments: (arguments . (string))
  (#any-of? @_load "require" "import")) @import.call

(export_statement "default" @export.anonymous)
(export_statement value: (identifier) @export.default)
(export_statement "default" declaration: (_ name: (_) @export.default))
(export_specifier) @export.item

(identifier) @use.reference
(shorthand_property_identifier) @use.reference
(shorthand_property_identifier_pattern) @use.reference
(property_identifier) @use.attribute
(private_property_identifier) @use.attribute
(call_expression function: [
  (identifier) @use.call
  (member_expression property: (property_identifier) @use.call)
  (member_expression property: (private_property_identifier) @use.call)
])
(new_expression constructor: [
  (identifier) @use.call
  (member_expression property: (property_identifier) @use.call)
])
(decorator [
  (identifier) @use.decorator
  (member_expression property: (property_identifier) @use.decorator)
  (call_expression function: [
    (identifier) @use.decorator
    (member_expression property: (property_identifier) @use.decorator)
  ])
])

; What makes names uncertain.
(assignment_expression left: (member_expression object: (identifier) @flag.patched))
(assignment_expression left: (member_expression object: (member_expression
  object: (identifier) @flag.prototype
  property: (property_identifier) @_prototype) (#eq? @_prototype "prototype")))
(call_expression function: (import) arguments: (arguments . [
  (identifier)
  (member_expression)
  (binary_expression)
  (call_expression)
  (template_string (template_substitution))
]) @flag.dynamic_import)
(call_expression function: (subscript_expression index: [
  (identifier)
  (member_expression)
  (binary_expression)
  (call_expression)
  (template_string (template_substitution))
]) @flag.dynamic_attribute)
(call_expression function: (member_expression
  object: (subscript_expression index: [
    (identifier)
    (member_expression)
    (binary_expression)
    (call_expression)
    (template_string (template_substitution))
  ])
  property: (property_identifier) @_called (#any-of? @_called "call" "apply" "bind")) @flag.dynamic_attribute)
