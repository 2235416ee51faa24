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

#endif
