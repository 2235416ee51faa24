/* gitindex._compiled: the hot loops of a first index and of a server, as fast as C. Python has the same ones. */
#include "table.h"

enum { FORMAT = 15 }; /* raised with every change of what a function takes or returns */

static PyMethodDef methods[] = {
    {"terms_of_text", terms_of_text, METH_VARARGS, "terms_of_text(text, expand) -> bytes"},
    {"group_names", group_names, METH_VARARGS,
     "group_names(data, extra, references, uses, imports, defined, scopes) -> (counts, packed) | None"},
    {"sweep_ranges", sweep_ranges, METH_VARARGS,
     "sweep_ranges(data, groups, attached, read_name) -> (ranges, named)"},
    {"score_chunks", score_chunks, METH_VARARGS,
     "score_chunks(text, terms, step) -> best"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_compiled", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

/* A secret that differs from process to process, as Python's own. */
static int seed(void) {
    Py_hash_t made[2];
    const char *texts[2] = {"gitindex", "compiled"};
    for (int i = 0; i < 2; i++) {
        PyObject *text = PyUnicode_FromString(texts[i]);
        made[i] = text ? PyObject_Hash(text) : -1;
        Py_XDECREF(text);
        if (made[i] == -1)
            return -1;
    }
    table_seed((uint64_t)made[0], (uint64_t)made[1]);
    return 0;
}

PyMODINIT_FUNC PyInit__compiled(void) {
    if (seed())
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddIntConstant(module, "FORMAT", FORMAT)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
