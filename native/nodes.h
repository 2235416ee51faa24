/* Places of tree-sitter's nodes, and lists of numbers that Python hands over. */
#ifndef GITINDEX_NODES_H
#define GITINDEX_NODES_H

#include "table.h"

typedef struct {
    Py_ssize_t *numbers;
    Py_ssize_t count;
} Numbers;

/* Both return 0, or -1 with an exception, or without one where memory ended. */
int node_range(PyObject *node, uint32_t *start, uint32_t *end);
int read_list(PyObject *list, Numbers *found);

/* The number of entries that are at most `value` (or below it): as Python's bisect. */
size_t at_most(const Py_ssize_t *sorted, size_t count, Py_ssize_t value);
size_t below(const Py_ssize_t *sorted, size_t count, Py_ssize_t value);

#endif
