/* The row of one blob's names, and the rows of the index by name: `python_pack` of
   gitindex/store/blob_names.py and `python_rows` of gitindex/store/name_index.py.

   Both return None for numbers beyond characters: Python writes those in parts. */
#include "numbers.h"

typedef struct {
    int64_t id;
    size_t start, length; /* of its places */
} Named;

static int by_id(const void *a, const void *b) {
    const Named *one = a, *two = b;
    return one->id < two->id ? -1 : one->id > two->id;
}

/* The end of so many characters of UTF-8; NULL if there are fewer. */
static const char *after_characters(const char *at, const char *end, int64_t count) {
    for (; count > 0 && at < end; count--) {
        at++;
        while (at < end && ((unsigned char)*at & 0xC0) == 0x80)
            at++;
    }
    return count > 0 ? NULL : at;
}

/* Ids and places of the names, in the order of the ids; -1 with an exception. */
static int read_named(PyObject *counts, PyObject *ids, const char *packed, size_t size, Named *named) {
    const char *at = packed, *end = packed + size;
    PyObject *name, *number;
    Py_ssize_t position = 0, found = 0;
    while (PyDict_Next(counts, &position, &name, &number)) {
        PyObject *id = PyDict_GetItemWithError(ids, name);
        if (!id) {
            if (!PyErr_Occurred())
                PyErr_SetObject(PyExc_KeyError, name);
            return -1;
        }
        int64_t count = PyLong_AsLongLong(number);
        named[found].id = PyLong_AsLongLong(id);
        if (PyErr_Occurred())
            return -1;
        const char *next = after_characters(at, end, count);
        if (!next || next == at) {
            PyErr_SetString(PyExc_ValueError, "bad postings");
            return -1;
        }
        named[found].start = (size_t)(at - packed);
        named[found].length = (size_t)(next - at);
        at = next;
        found++;
    }
    qsort(named, (size_t)found, sizeof *named, by_id);
    return 0;
}

static PyObject *two_columns(const Named *named, size_t count, const char *packed) {
    Buffer names = {0}, places = {0};
    PyObject *made = NULL;
    int failed = put_number(&names, (int64_t)count);
    for (size_t i = 0; i < count && !failed; i++)
        failed = put_number(&names, named[i].id - (i ? named[i - 1].id : 0));
    for (size_t i = 0; i < count && !failed; i++)
        failed = put_number(&names, (int64_t)named[i].length) ||
                 buffer_add(&places, packed + named[i].start, named[i].length);
    if (!failed)
        made = Py_BuildValue("y#y#", names.bytes, (Py_ssize_t)names.size, places.bytes,
                             (Py_ssize_t)places.size);
    free(names.bytes);
    free(places.bytes);
    if (failed && !PyErr_Occurred())
        Py_RETURN_NONE;
    return made;
}

PyObject *pack_names(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *counts, *ids, *made = NULL;
    const char *packed;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "O!y#O!", &PyDict_Type, &counts, &packed, &size, &PyDict_Type, &ids))
        return NULL;
    size_t count = (size_t)PyDict_Size(counts);
    if (!count)
        Py_RETURN_NONE;
    Named *named = malloc(count * sizeof *named);
    if (!named)
        return PyErr_NoMemory();
    if (!read_named(counts, ids, packed, (size_t)size, named))
        made = two_columns(named, count, packed);
    free(named);
    return made;
}

typedef struct {
    int64_t name, blob;
} Pair;

typedef struct {
    Pair *pairs;
    size_t count, room;
} Pairs;

static int add_pair(Pairs *pairs, int64_t name, int64_t blob) {
    if (pairs->count == pairs->room) {
        size_t room = pairs->room ? 2 * pairs->room : 1024;
        Pair *grown = realloc(pairs->pairs, room * sizeof *grown);
        if (!grown)
            return -1;
        pairs->pairs = grown;
        pairs->room = room;
    }
    pairs->pairs[pairs->count++] = (Pair){name, blob};
    return 0;
}

static int by_name(const void *a, const void *b) {
    const Pair *one = a, *two = b;
    if (one->name != two->name)
        return one->name < two->name ? -1 : 1;
    return one->blob < two->blob ? -1 : one->blob > two->blob;
}

/* The names of one row, as `read_names` takes them; -1 if Python should look at it. */
static int read_row(Pairs *pairs, int64_t blob, const char *names, Py_ssize_t size) {
    Reader reader = {(const unsigned char *)names, (const unsigned char *)names + size};
    int64_t count = next_number(&reader), id = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t step = next_number(&reader);
        if (step <= 0 || id > MAX_ID || add_pair(pairs, id += step, blob))
            return -1;
    }
    for (int64_t i = 0; i < count; i++)
        if (next_number(&reader) <= 0)
            return -1;
    return count <= 0 || reader.at != reader.end ? -1 : 0;
}

/* One row: a name, its first blob, and the distances to the others. */
static PyObject *row_of(const Pair *pairs, size_t count, Buffer *others) {
    others->size = 0;
    for (size_t i = 1; i < count; i++)
        if (put_number(others, pairs[i].blob - pairs[i - 1].blob))
            return NULL;
    return Py_BuildValue("LLy#", (long long)pairs->name, (long long)pairs->blob,
                         others->bytes ? others->bytes : "", (Py_ssize_t)others->size);
}

static PyObject *rows_of(const Pairs *pairs) {
    PyObject *rows = PyList_New(0);
    Buffer others = {0};
    int failed = !rows;
    for (size_t at = 0, end; at < pairs->count && !failed; at = end) {
        for (end = at + 1; end < pairs->count && pairs->pairs[end].name == pairs->pairs[at].name;)
            end++;
        PyObject *row = row_of(pairs->pairs + at, end - at, &others);
        failed = !row || PyList_Append(rows, row);
        Py_XDECREF(row);
    }
    free(others.bytes);
    if (failed) {
        Py_XDECREF(rows);
        return NULL;
    }
    return rows;
}

PyObject *rows_by_name(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *blobs, *rows = NULL;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &blobs))
        return NULL;
    Pairs pairs = {0};
    int failed = 0;
    Py_ssize_t count = PyList_Size(blobs);
    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        long long blob;
        const char *names;
        Py_ssize_t size;
        failed = !PyArg_ParseTuple(PyList_GetItem(blobs, i), "Ly#", &blob, &names, &size) ||
                 read_row(&pairs, blob, names, size);
    }
    if (!failed) {
        if (pairs.count)
            qsort(pairs.pairs, pairs.count, sizeof *pairs.pairs, by_name);
        rows = rows_of(&pairs);
    }
    free(pairs.pairs);
    if (!rows && !PyErr_Occurred())
        Py_RETURN_NONE;
    return rows;
}
