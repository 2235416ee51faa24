; Markdown: headings; the sections under them are computed from their levels.

(atx_heading (atx_h1_marker) heading_content: (inline) @name.text) @heading.1
(atx_heading (atx_h2_marker) heading_content: (inline) @name.text) @heading.2
(atx_heading (atx_h3_marker) heading_content: (inline) @name.text) @heading.3
(atx_heading (atx_h4_marker) heading_content: (inline) @name.text) @heading.4
(atx_heading (atx_h5_marker) heading_content: (inline) @name.text) @heading.5
(atx_heading (atx_h6_marker) heading_content: (inline) @name.text) @heading.6
(setext_heading heading_content: (paragraph) @name.text (setext_h1_underline)) @heading.1
(setext_heading heading_content: (paragraph) @name.text (setext_h2_underline)) @heading.2
