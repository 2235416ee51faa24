; Ruby.

(module name: [
  (constant) @name
  (scope_resolution) @name.path
] body: (_)? @body) @def.module
(class name: [(constant) @name (scope_resolution) @name.path] body: (_)? @body) @def.class
(singleton_class) @impl
(method name: (_) @name body: (_)? @body) @def.function
(singleton_method name: (_) @name body: (_)? @body) @def.function
(alias name: (_) @name) @def.function
(assignment left: (constant) @name) @def.constant
(assignment left: (class_variable) @name) @def.field
(call
  method: (identifier) @_declare
  arguments: (argument_list [
    (simple_symbol) @name.marked
    (string (string_content) @name)
    (parenthesized_statements [(simple_symbol) @name.marked (string (string_content) @name)])
  ])
  (#any-of? @_declare "attr" "attr_reader" "attr_writer" "attr_accessor")) @def.field
(call
  method: (identifier) @_declare
  arguments: (argument_list . [(simple_symbol) @name.marked (string (string_content) @name)])
  (#any-of? @_declare "alias_method" "define_method")) @def.method
([(body_statement (identifier) @access) (program (identifier) @access)]
  (#any-of? @access "private" "public" "protected"))
[(block) (do_block) (lambda)] @local
[(if) (unless) (begin) (case)] @guard
(comment) @comment

(call
  !receiver
  method: (identifier) @_load
  arguments: (argument_list . (string))
  (#any-of? @_load "require" "require_relative" "load" "autoload")) @import.call

(identifier) @use.reference
(constant) @use.reference
(instance_variable) @use.attribute
(class_variable) @use.attribute
(global_variable) @use.reference
(simple_symbol) @use.symbol
(call method: [(identifier) @use.call (constant) @use.call])
(superclass [(constant) @use.inherit (scope_resolution name: (constant) @use.inherit)])
(call
  method: (identifier) @_mix
  arguments: (argument_list [(constant) @use.inherit (scope_resolution name: (constant) @use.inherit)])
  (#any-of? @_mix "include" "extend" "prepend"))
