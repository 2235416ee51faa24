"""One kind of answer each. Asks a view, writes nothing."""
