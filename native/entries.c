/* Entries of git's index, versions 2 and 3: the loops of gitindex/git/index_file.py over all of them. */
#include "table.h"

enum { STAT = 40, NAME = 0x0FFF, EXTENDED = 0x4000, MODE = 24, SIZE = 36 };

typedef struct {
    const unsigned char *data;
    size_t length, ids; /* bytes of the file, and of an id */
} Index;

static uint32_t number_at(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static unsigned flags_at(const Index *index, size_t at) {
    const unsigned char *flags = index->data + at + STAT + index->ids;
    return (unsigned)flags[0] << 8 | flags[1];
}

/* Is there room for the fixed part of an entry? */
static int fits(const Index *index, size_t at) {
    return at <= index->length && index->length - at >= STAT + index->ids + 2;
}

/* The end of the name of an entry; 0 where the file ends before it. */
static size_t name_end(const Index *index, size_t at) {
    size_t start = at + STAT + index->ids + 2 + (flags_at(index, at) & EXTENDED ? 2 : 0);
    const unsigned char *zero =
        start < index->length ? memchr(index->data + start, 0, index->length - start) : NULL;
    return zero ? (size_t)(zero - index->data) : 0;
}

static PyObject *cut_short(void) {
    PyErr_SetString(PyExc_ValueError, "the index ends too early");
    return NULL;
}

/* Is an entry in need of a closer look: by its times and flags, or because its pair is not known? -1: error. */
static int is_odd(const Index *index, size_t at, PyObject *known) {
    const unsigned char *entry = index->data + at;
    unsigned flags = flags_at(index, at);
    if (known == Py_None)
        return flags >= NAME || number_at(entry) != number_at(entry + 8);
    if (flags & EXTENDED || (flags & NAME) == NAME)
        return 1;
    PyObject *pair = PyBytes_FromStringAndSize((const char *)entry + SIZE, (Py_ssize_t)(4 + index->ids));
    int held = pair ? PySet_Contains(known, pair) : -1;
    Py_XDECREF(pair);
    return held < 0 ? -1 : !held;
}

static int append(PyObject *list, size_t at) {
    PyObject *number = PyLong_FromSize_t(at);
    int failed = !number || PyList_Append(list, number);
    Py_XDECREF(number);
    return failed;
}

/* An index, the place of its first entry, their number and pairs that are known, from the arguments. */
static int read_index(PyObject *args, Index *index, size_t *now, Py_ssize_t *count, PyObject **known) {
    Py_ssize_t length, at, ids;
    *known = Py_None;
    if (!PyArg_ParseTuple(args, "y#nnn|O", &index->data, &length, &at, count, &ids, known))
        return -1;
    index->length = (size_t)length;
    index->ids = (size_t)ids;
    *now = (size_t)at;
    int good = at >= 0 && (ids == 20 || ids == 32) && (*known == Py_None || PyFrozenSet_Check(*known));
    return good || cut_short() ? 0 : -1;
}

/* (offsets of the entries that need a closer look, end of all entries). */
PyObject *odd_entries(PyObject *module, PyObject *args) {
    Index index;
    size_t now;
    Py_ssize_t count;
    PyObject *known;
    (void)module;
    if (read_index(args, &index, &now, &count, &known))
        return NULL;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < count; i++) {
        size_t end = 0;
        int odd = fits(&index, now) ? is_odd(&index, now, known) : -1;
        if (odd == 0)
            end = now + STAT + index.ids + 2 + (flags_at(&index, now) & NAME);
        else if (odd > 0 && !append(found, now))
            end = name_end(&index, now);
        if (!end) {
            Py_DECREF(found);
            return PyErr_Occurred() ? NULL : cut_short();
        }
        now += (end - now + 8) & ~(size_t)7;
    }
    return found ? Py_BuildValue("(Nn)", found, (Py_ssize_t)now) : NULL;
}

/* The end of an entry with the zeros after its name; 0 where the file ends before it. */
static size_t entry_end(const Index *index, size_t at) {
    size_t end = fits(index, at) ? name_end(index, at) : 0;
    size_t next = at + ((end - at + 8) & ~(size_t)7);
    return end && next <= index->length ? next : 0;
}

/* Mode, id, flags and name of one entry. */
static PyObject *content_of(const Index *index, size_t at, size_t end) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(end - at - STAT + 4));
    if (made) {
        char *to = PyBytes_AsString(made);
        memcpy(to, index->data + at + MODE, 4);
        memcpy(to + 4, index->data + at + STAT, end - at - STAT);
    }
    return made;
}

/* A list of mode, id, flags and name of each entry. */
PyObject *entry_list(PyObject *module, PyObject *args) {
    Index index;
    size_t now;
    Py_ssize_t count;
    PyObject *known;
    (void)module;
    if (read_index(args, &index, &now, &count, &known))
        return NULL;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < count; i++) {
        size_t next = entry_end(&index, now);
        PyObject *entry = next ? content_of(&index, now, next) : cut_short();
        if (!entry || PyList_Append(found, entry))
            Py_CLEAR(found);
        Py_XDECREF(entry);
        now = next;
    }
    return found;
}
