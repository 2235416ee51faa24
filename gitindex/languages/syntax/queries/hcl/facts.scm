; HCL and Terraform: `resource "aws_instance" "web"` is resource.aws_instance.web.

(block . (identifier) @receiver
  . (string_lit (template_literal) @name) . (block_start) @body) @def.block
(block . (identifier) @receiver
  . (string_lit (template_literal) @receiver)
  . (string_lit (template_literal) @name) . (block_start) @body) @def.block
(block . (identifier) @name . (block_start) @body) @def.block
(attribute . (identifier) @name) @def.key
(comment) @comment

(identifier) @use.reference
(get_attr (identifier) @use.attribute)
(function_call (identifier) @use.call)
