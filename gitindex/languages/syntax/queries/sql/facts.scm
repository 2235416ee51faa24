; SQL.

(create_table (object_reference name: (identifier) @name) (column_definitions) @body) @def.table
(create_view (object_reference name: (identifier) @name) (create_query) @body) @def.view
(create_materialized_view (object_reference name: (identifier) @name)) @def.view
(create_function (object_reference name: (identifier) @name) (function_body) @body) @def.function
(create_index column: (identifier) @name) @def.index
(create_type (object_reference name: (identifier) @name)) @def.type
(create_sequence (object_reference name: (identifier) @name)) @def.sequence
(create_schema (identifier) @name) @def.namespace
(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @def.trigger
(column_definition name: (identifier) @name) @def.field
[(comment) (marginalia)] @comment

(identifier) @use.reference
(invocation (object_reference name: (identifier) @use.call))
