; How values flow: what functions give back, calls that no name stands for, what the language calls itself.

(return_statement (_) @return)
(arrow_function body: [(identifier) (member_expression) (call_expression)] @return)
(call_expression function: [(subscript_expression) (call_expression) (parenthesized_expression)] @call)
(assignment_expression left: (subscript_expression object: (identifier) @container index: (_) @key) right: (_) @item)
(assignment_expression left: (member_expression object: (identifier) @container property: (_) @key) right: (_) @item)
