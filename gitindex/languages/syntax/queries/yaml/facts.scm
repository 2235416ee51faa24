; YAML.

(block_mapping_pair key: (flow_node [
  (plain_scalar) @name.marked
  (double_quote_scalar) @name.marked
  (single_quote_scalar) @name.marked
])) @def.key
(block_mapping_pair value: (block_node) @body)
(flow_pair key: (flow_node [
  (plain_scalar) @name.marked
  (double_quote_scalar) @name.marked
  (single_quote_scalar) @name.marked
])) @def.key
(comment) @comment

(anchor_name) @use.reference
(alias_name) @use.reference
