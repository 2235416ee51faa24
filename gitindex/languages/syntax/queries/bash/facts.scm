; Bash and other shells of its kind.

(function_definition name: (word) @name body: (_) @body) @def.function
(variable_assignment name: (variable_name) @name) @def.variable
(command name: (command_name (word) @_alias)
  argument: (concatenation . (word) @name.marked) (#eq? @_alias "alias")) @def.macro
[(if_statement) (case_statement)] @guard
(comment) @comment

(command name: (command_name (word) @_load) (#any-of? @_load "source" ".")) @import

(variable_name) @use.reference
(command_name (word) @use.call)
