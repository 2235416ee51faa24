; What only TypeScript has.

[
  (function_signature)
  (method_signature)
  (abstract_method_signature)
  (call_signature)
  (construct_signature)
  (function_type)
  (constructor_type)
] @scope.function
[(abstract_class_declaration) (interface_declaration) (type_alias_declaration)] @scope.class
[(conditional_type) (index_signature)] @scope.block

(required_parameter pattern: (_) @bind.param)
(required_parameter pattern: (_) @bind.param type: (_) @type)
(required_parameter pattern: (_) @bind.param value: (_) @value)
(optional_parameter pattern: (_) @bind.param)
(optional_parameter pattern: (_) @bind.param type: (_) @type)
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (_) @type)
(lexical_declaration (variable_declarator name: (_) @bind.var type: (_) @type))
(variable_declaration (variable_declarator name: (_) @bind.hoist type: (_) @type))
(lexical_declaration (variable_declarator name: (_) @bind.var type: (_) @type value: (_) @value))

(function_declaration name: (_) @typed return_type: (type_annotation) @type)
(function_signature name: (_) @typed return_type: (type_annotation) @type)
(method_definition name: (_) @typed return_type: (type_annotation) @type)
(method_signature name: (_) @typed return_type: (type_annotation) @type)
(abstract_method_signature name: (_) @typed return_type: (type_annotation) @type)
(variable_declarator name: (identifier) @typed value: (arrow_function return_type: (type_annotation) @type))
(property_signature name: (_) @typed type: (type_annotation) @type)
(public_field_definition name: (_) @typed type: (type_annotation) @type)
(public_field_definition name: (_) @field value: (_) @value)
(function_signature name: (_) @bind.function)
(abstract_class_declaration name: (_) @bind.class)
(interface_declaration name: (_) @bind.type)
(type_alias_declaration name: (_) @bind.type)
(enum_declaration name: (_) @bind.enum)
(internal_module name: (identifier) @bind.enum)
(module name: (identifier) @bind.enum)
(type_parameter name: (_) @bind.typeparam)
(infer_type . (type_identifier) @bind.typeparam)
(mapped_type_clause name: (_) @bind.typeparam)
(import_require_clause (identifier) @bind.import)
(import_alias . (identifier) @bind.import)
(literal_type (string) @dynamic)
(export_statement "=" (_) @export.whole)

(nested_identifier object: (_) @receiver property: (_) @of)
(nested_type_identifier module: (_) @receiver name: (_) @of)

(class_declaration name: (_) @head (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)]))
(abstract_class_declaration name: (_) @head
  (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)]))
(variable_declarator name: (identifier) @head
  value: (class (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])))
(interface_declaration name: (_) @head (extends_type_clause type: (_) @base))
(type_alias_declaration name: (_) @head value: (_) @alias)
(abstract_class_declaration decorator: (decorator (_) @decorator) name: (_) @head)
(export_statement decorator: (decorator (_) @decorator) declaration: (abstract_class_declaration name: (_) @head))
(formal_parameters (required_parameter value: (_))) @defaults
(class_body (decorator (_) @decorator) . [(decorator) (comment)]* . (method_definition name: (_) @head))

; Keys of a literal that has a declared type: each is a field of it.
(variable_declarator type: (type_annotation) @type value: (object [
    (pair key: (property_identifier) @keyed)
    (shorthand_property_identifier) @keyed
  ]))
(function_declaration return_type: (type_annotation) @type
  body: (statement_block (return_statement (object [
    (pair key: (property_identifier) @keyed)
    (shorthand_property_identifier) @keyed
  ]))))
(method_definition return_type: (type_annotation) @type
  body: (statement_block (return_statement (object [
    (pair key: (property_identifier) @keyed)
    (shorthand_property_identifier) @keyed
  ]))))
