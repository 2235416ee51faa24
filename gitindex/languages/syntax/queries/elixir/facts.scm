; Elixir, where every definition is a call.

(call target: (identifier) @_def
  (arguments . (alias) @name.path) (do_block) @body
  (#any-of? @_def "defmodule" "defprotocol")) @def.module
(call target: (identifier) @_def (arguments . (alias) @name) (#eq? @_def "defimpl")) @impl
(call target: (identifier) @_def
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
    (binary_operator operator: ["+" "-" "*" "/" "++" "--" "<>" "|>" "<|>" "&&" "||" "&&&" "|||" "<<<" ">>>"
      "^^^" "~>" "~>>" "<~" "<<~" "<~>" "==" "!=" "=~" "<" ">" "<=" ">=" "=" "|" "and" "or" "in" ".."] @name)
  ])
  (do_block)? @body
  (#any-of? @_def "def" "defp" "defdelegate")) @def.function
(call target: (identifier) @_def
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
    (binary_operator operator: ["+" "-" "*" "/" "++" "--" "<>" "|>" "<|>" "&&" "||" "&&&" "|||" "<<<" ">>>"
      "^^^" "~>" "~>>" "<~" "<<~" "<~>" "==" "!=" "=~" "<" ">" "<=" ">=" "=" "|" "and" "or" "in" ".."] @name)
  ])
  (do_block)? @body
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp")) @def.macro
(anonymous_function) @local
(comment) @comment

(call target: (identifier) @_use (#any-of? @_use "alias" "import" "require" "use")) @import

(identifier) @use.reference
(alias) @use.reference
(call target: [(identifier) @use.call (dot right: (identifier) @use.call)])
