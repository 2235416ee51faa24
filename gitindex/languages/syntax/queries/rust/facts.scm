; Rust.

(function_item name: (identifier) @name body: (block) @body) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name body: (field_declaration_list)? @body) @def.struct
(enum_item name: (type_identifier) @name body: (_) @body) @def.enum
(enum_variant name: (identifier) @name) @def.enumerator
(union_item name: (type_identifier) @name body: (_) @body) @def.union
(trait_item name: (type_identifier) @name body: (_) @body) @def.trait
(mod_item name: (identifier) @name body: (_)? @body) @def.module
(type_item name: (type_identifier) @name) @def.type
(associated_type name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(field_declaration name: (field_identifier) @name) @def.field
(macro_definition name: (identifier) @name (macro_rule) @body) @def.macro
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: (type_identifier) @name)
]) @impl
(impl_item trait: (_)) @impl.trait
([(source_file (macro_invocation) @macro.items) (declaration_list (macro_invocation) @macro.items)])
(closure_expression) @local
(attribute_item) @attached
[(line_comment) (block_comment)] @comment

[(use_declaration) (extern_crate_declaration)] @import
(mod_item !body) @import.module

(identifier) @use.reference
(field_identifier) @use.attribute
(type_identifier) @use.type
(call_expression function: [
  (identifier) @use.call
  (scoped_identifier name: (identifier) @use.call)
  (field_expression field: (field_identifier) @use.call)
  (generic_function function: [
    (identifier) @use.call
    (scoped_identifier name: (identifier) @use.call)
    (field_expression field: (field_identifier) @use.call)
  ])
])
(macro_invocation macro: [(identifier) @use.call (scoped_identifier name: (identifier) @use.call)])
(impl_item trait: [
  (type_identifier) @use.inherit
  (generic_type type: (type_identifier) @use.inherit)
  (scoped_type_identifier name: (type_identifier) @use.inherit)
])
(trait_item bounds: (trait_bounds [
  (type_identifier) @use.inherit
  (generic_type type: (type_identifier) @use.inherit)
  (scoped_type_identifier name: (type_identifier) @use.inherit)
]))
(attribute (identifier) @use.decorator)
