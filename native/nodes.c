/* What reads arguments: nodes and lists of numbers. */
#include "nodes.h"

static PyObject *start_byte, *end_byte;

static int attribute(PyObject *node, PyObject **name, const char *text, uint32_t *value) {
    if (!*name && !(*name = PyUnicode_InternFromString(text)))
        return -1;
    PyObject *said = PyObject_GetAttr(node, *name);
    if (!said)
        return -1;
    unsigned long number = PyLong_AsUnsignedLong(said);
    Py_DECREF(said);
    if (number == (unsigned long)-1 && PyErr_Occurred())
        return -1;
    if (number >= UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a place beyond 4 GB");
        return -1;
    }
    *value = (uint32_t)number;
    return 0;
}

int node_range(PyObject *node, uint32_t *start, uint32_t *end) {
    Py_INCREF(node);
    int failed = attribute(node, &start_byte, "start_byte", start) ||
                 attribute(node, &end_byte, "end_byte", end);
    Py_DECREF(node);
    return failed ? -1 : 0;
}

int read_list(PyObject *list, Numbers *found) {
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "a list of numbers");
        return -1;
    }
    found->numbers = malloc(((size_t)count + 1) * sizeof *found->numbers);
    if (!found->numbers)
        return -1;
    for (found->count = 0; found->count < count; found->count++) {
        PyObject *number = PyList_GetItem(list, found->count);
        found->numbers[found->count] = number ? PyLong_AsSsize_t(number) : -1;
        if (found->numbers[found->count] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}
