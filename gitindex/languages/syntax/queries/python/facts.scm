; Python. Definitions first, then uses from the weakest role to the strongest.

(class_definition name: (identifier) @name body: (block) @body) @def.class
(function_definition name: (identifier) @name body: (block) @body) @def.function
(assignment left: [
  (identifier) @name
  (pattern_list (identifier) @name)
  (pattern_list (tuple_pattern (identifier) @name))
  (tuple_pattern (identifier) @name)
]) @def.variable
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @def.type
(decorated_definition) @outer
(lambda) @local
(class_definition body: (block . (expression_statement (string) @doc)))
(function_definition body: (block . (expression_statement (string) @doc)))
(module . (comment)* . (expression_statement (string) @doc))
[(if_statement) (try_statement) (match_statement)] @guard
(comment) @comment

[(import_statement) (import_from_statement) (future_import_statement)] @import

(aliased_import
  name: (dotted_name . (identifier) @_name .)
  alias: (identifier) @export.alias
  (#eq? @_name @export.alias))

(identifier) @use.reference
(attribute attribute: (identifier) @use.attribute)
(call function: [(identifier) @use.call (attribute attribute: (identifier) @use.call)])
(type [
  (identifier) @use.type
  (attribute attribute: (identifier) @use.type)
  (generic_type (identifier) @use.type)
  (binary_operator [(identifier) @use.type (attribute attribute: (identifier) @use.type)])
])
(class_definition superclasses: (argument_list [
  (identifier) @use.inherit
  (attribute attribute: (identifier) @use.inherit)
  (subscript value: [(identifier) @use.inherit (attribute attribute: (identifier) @use.inherit)])
]))
(decorator [
  (identifier) @use.decorator
  (attribute attribute: (identifier) @use.decorator)
  (call function: [
    (identifier) @use.decorator
    (attribute attribute: (identifier) @use.decorator)
  ])
])

(assignment left: (attribute object: (identifier) @flag.patched))
(assignment left: (attribute object: (attribute) @flag.below))
(assignment left: (subscript value: [
  (call function: (identifier) @flag.stored)
  (attribute attribute: (identifier) @flag.stored)
]))
