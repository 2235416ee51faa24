/* Identifiers grouped by name, their places packed: `_python_group` of languages/syntax/postings.py.

   Returns None for whatever is unusual (bad UTF-8 in a name, numbers too large): Python does it then. */
#include "nodes.h"

enum { REFERENCE = 2, DEFINITION = 0, IMPORT = 1, CALL = 3, MAX_NAME = 1000, MAX_NUMBER = 0x10FFFF, NO_SYMBOL = (1 << 18) - 1 };
enum { NO_USE = -1 };
#define BEYOND ((Py_ssize_t)UINT32_MAX) /* any text: what lasts until the end of its file ends there */

typedef struct {
    uint32_t start, end, order;
    int32_t use;
} Place;

typedef struct {
    uint32_t name, start;
    int32_t use;
} Kept;

static int add_place(Buffer *places, uint32_t start, uint32_t end, int use) {
    Place place = {start, end, (uint32_t)(places->size / sizeof(Place)), use};
    return buffer_add(places, (char *)&place, sizeof place);
}

static int add_nodes(Buffer *places, PyObject *nodes, int use) {
    if (!PyList_Check(nodes)) {
        PyErr_SetString(PyExc_TypeError, "a list of nodes");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(nodes); i++) {
        uint32_t start, end;
        PyObject *node = PyList_GetItem(nodes, i);
        if (!node || node_range(node, &start, &end) || add_place(places, start, end, use))
            return -1;
    }
    return 0;
}

/* A flat list of pairs of places. */
static int read_numbers(PyObject *list, Numbers *found) {
    if (read_list(list, found))
        return -1;
    if (found->count % 2) {
        PyErr_SetString(PyExc_TypeError, "a list of pairs of numbers");
        return -1;
    }
    for (Py_ssize_t i = 0; i < found->count; i++) {
        if (found->numbers[i] < 0) {
            PyErr_SetString(PyExc_ValueError, "a place before the text");
            return -1;
        }
        if (found->numbers[i] > BEYOND)
            found->numbers[i] = BEYOND;
    }
    return 0;
}

static Py_ssize_t bounded(Py_ssize_t ordinal) { return ordinal < NO_SYMBOL ? ordinal + 1 : 0; }

/* Offsets where the innermost symbol changes, each with its ordinal + 1: `_boundaries`. */
static int read_marks(PyObject *list, Buffer *marks) {
    Numbers scopes = {0};
    Buffer stack = {0};
    int failed = read_list(list, &scopes);
    if (!failed && scopes.count % 3) {
        PyErr_SetString(PyExc_TypeError, "a list of three numbers for each symbol");
        failed = 1;
    }
    for (Py_ssize_t i = 0; i <= scopes.count && !failed; i += 3) {
        const Py_ssize_t *scope = i < scopes.count ? scopes.numbers + i : NULL;
        while (stack.size && !failed) { /* those that end before it; at last all */
            const Py_ssize_t *open = (const Py_ssize_t *)stack.bytes + stack.size / sizeof *open - 2;
            if (scope && open[0] > scope[0])
                break;
            Py_ssize_t mark[2] = {open[0], 0};
            stack.size -= sizeof mark;
            if (stack.size)
                mark[1] = open[-1];
            failed = buffer_add(marks, (char *)mark, sizeof mark);
        }
        if (!scope || failed)
            break;
        if (scope[0] < 0 || scope[1] < 0 || scope[2] < 0) {
            PyErr_SetString(PyExc_ValueError, "a place before the text");
            failed = 1;
            break;
        }
        Py_ssize_t opened[2] = {scope[1], bounded(scope[2])}, mark[2] = {scope[0], opened[1]};
        failed = buffer_add(&stack, (char *)opened, sizeof opened) ||
                 buffer_add(marks, (char *)mark, sizeof mark);
    }
    free(scopes.numbers);
    free(stack.bytes);
    return failed ? -1 : 0;
}

static int add_pairs(Buffer *places, const Numbers *pairs, int use) {
    for (Py_ssize_t i = 0; i + 1 < pairs->count; i += 2)
        if (add_place(places, (uint32_t)pairs->numbers[i], (uint32_t)pairs->numbers[i + 1], use))
            return -1;
    return 0;
}

static int by_start(const void *one, const void *other) {
    const Place *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* One identifier per start: a later end wins, but one of a call only where nothing else has one. */
static size_t fold(const Place *places, size_t count, size_t at, Place *folded) {
    int ended = 0;
    *folded = (Place){places[at].start, 0, 0, REFERENCE};
    for (; at < count && places[at].start == folded->start; at++) {
        if (places[at].use != CALL || !ended)
            folded->end = places[at].end;
        ended = ended || places[at].use != CALL;
        if (places[at].use != NO_USE)
            folded->use = places[at].use;
    }
    return at;
}

/* Numbers the name of every identifier; 1 where Python has to look itself. */
static int number_names(const char *data, size_t size, Buffer *sorted, const Numbers *imports,
                        Table *names, Buffer *kept) {
    const Place *places = (const Place *)sorted->bytes;
    size_t count = sorted->size / sizeof(Place);
    Py_ssize_t import = 0, import_end = 0;
    Place one;
    for (size_t at = 0; at < count;) {
        at = fold(places, count, at, &one);
        if (one.start > size)
            return 1;
        for (; import < imports->count && imports->numbers[import] <= (Py_ssize_t)one.start; import += 2)
            if (imports->numbers[import + 1] > import_end)
                import_end = imports->numbers[import + 1];
        if ((Py_ssize_t)one.start < import_end && one.use != DEFINITION)
            one.use = IMPORT;
        size_t end = one.end < size ? one.end : size;
        size_t number = table_put(names, data + one.start, end > one.start ? end - one.start : 0);
        if (number == NO_ENTRY)
            return -1;
        names->entries[number].count++;
        Kept entry = {(uint32_t)number, one.start, one.use};
        if (buffer_add(kept, (char *)&entry, sizeof entry))
            return -1;
    }
    return 0;
}

/* Adds a number as a character of UTF-8. */
static int put_number(Buffer *out, uint32_t value) {
    unsigned char bytes[4];
    size_t size = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (unsigned char)(0x80 | (value & 0x3F));
        value >>= 6;
    }
    bytes[0] = (unsigned char)(size == 1 ? value : (0xF0 << (4 - size) & 0xFF) | value);
    return buffer_add(out, (char *)bytes, size);
}

typedef struct {
    uint32_t head, column, enclosing;
} Triple;

/* Line, column and enclosing symbol of every identifier, put where those of its name stand. */
static int locate(const char *data, size_t size, const Buffer *kept, const Numbers *marks,
                  size_t *next, Triple *triples) {
    const Kept *entries = (const Kept *)kept->bytes;
    size_t count = kept->size / sizeof(Kept), line = 0, line_start = 0, line_end;
    const char *found = size ? memchr(data, '\n', size) : NULL;
    line_end = found ? (size_t)(found - data) + 1 : size + 1;
    Py_ssize_t mark = 0;
    size_t enclosing = 0;
    for (size_t i = 0; i < count; i++) {
        size_t start = entries[i].start;
        while (start >= line_end) {
            line++;
            line_start = line_end;
            found = line_start < size ? memchr(data + line_start, '\n', size - line_start) : NULL;
            line_end = found ? (size_t)(found - data) + 1 : size + 1;
        }
        for (; mark < marks->count && (Py_ssize_t)start >= marks->numbers[mark]; mark += 2)
            enclosing = (size_t)marks->numbers[mark + 1];
        if (line > MAX_NUMBER >> 3 || start - line_start > MAX_NUMBER || enclosing > MAX_NUMBER)
            return 1;
        triples[next[entries[i].name]++] = (Triple){(uint32_t)(line << 3) | (uint32_t)entries[i].use,
                                                    (uint32_t)(start - line_start),
                                                    (uint32_t)enclosing};
    }
    return 0;
}

static int pack_places(Buffer *out, const Triple *triples, size_t count) {
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (put_number(out, triples[i].head - (last & ~7u)) || put_number(out, triples[i].column) ||
            put_number(out, triples[i].enclosing))
            return -1;
        last = triples[i].head;
    }
    return 0;
}

/* The names, how many numbers each has, and all places packed; NULL without an error: Python's turn. */
static PyObject *packed_names(const Table *names, const size_t *ends, const Triple *triples) {
    PyObject *counts = PyDict_New();
    Buffer out = {0};
    int failed = counts == NULL;
    for (size_t i = 0; i < names->size && !failed; i++) {
        const Entry *entry = &names->entries[i];
        if (entry->length > MAX_NAME)
            continue;
        PyObject *name = PyUnicode_DecodeUTF8(table_key(names, i), (Py_ssize_t)entry->length, NULL);
        if (!name) {
            if (PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
                PyErr_Clear();
            failed = 2;
            break;
        }
        PyObject *count = PyLong_FromSize_t(3 * (size_t)entry->count);
        failed = count == NULL || PyDict_SetItem(counts, name, count) ||
                 pack_places(&out, triples + ends[i] - entry->count, entry->count);
        Py_DECREF(name);
        Py_XDECREF(count);
    }
    PyObject *result = NULL;
    if (!failed)
        result = Py_BuildValue("(Oy#)", counts, out.bytes ? out.bytes : "", (Py_ssize_t)out.size);
    else if (failed != 2 && !PyErr_Occurred())
        PyErr_NoMemory();
    Py_XDECREF(counts);
    free(out.bytes);
    return result;
}

static PyObject *group(const char *data, size_t size, Buffer *places, const Numbers *imports,
                       const Numbers *marks) {
    Table names = {0};
    Buffer kept = {0};
    PyObject *result = NULL;
    size_t *next = NULL;
    Triple *triples = NULL;
    if (places->size)
        qsort(places->bytes, places->size / sizeof(Place), sizeof(Place), by_start);
    int odd = table_init(&names);
    if (!odd)
        odd = number_names(data, size, places, imports, &names, &kept);
    if (!odd) {
        next = malloc((names.size + 1) * sizeof *next);
        triples = malloc((kept.size / sizeof(Kept) + 1) * sizeof *triples);
        odd = next && triples ? 0 : -1;
    }
    if (!odd) {
        size_t at = 0;
        for (size_t i = 0; i < names.size; i++) {
            next[i] = at;
            at += names.entries[i].count;
        }
        odd = locate(data, size, &kept, marks, next, triples);
    }
    if (!odd)
        result = packed_names(&names, next, triples);
    else if (odd < 0)
        PyErr_NoMemory();
    table_free(&names);
    free(kept.bytes);
    free(next);
    free(triples);
    return result;
}

PyObject *group_names(PyObject *module, PyObject *args) {
    const char *data;
    Py_ssize_t size;
    PyObject *extra, *references, *uses, *imported, *defined, *marked, *result = NULL;
    Numbers pairs = {0}, imports = {0}, names = {0}, marks = {0};
    Buffer places = {0}, changes = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#OOOOOO", &data, &size, &extra, &references, &uses, &imported,
                          &defined, &marked))
        return NULL;
    int failed = size >= (Py_ssize_t)UINT32_MAX || !PyDict_Check(uses) ||
                 read_numbers(extra, &pairs) || read_numbers(imported, &imports) ||
                 read_numbers(defined, &names) || read_marks(marked, &changes) ||
                 add_pairs(&places, &pairs, NO_USE) || add_nodes(&places, references, NO_USE);
    PyObject *use, *nodes;
    Py_ssize_t at = 0;
    while (!failed && PyDict_Next(uses, &at, &use, &nodes)) {
        long number = PyLong_AsLong(use);
        failed = number < 0 || number > 7 || add_nodes(&places, nodes, (int)number);
    }
    failed = failed || add_pairs(&places, &names, DEFINITION);
    marks.numbers = (Py_ssize_t *)changes.bytes;
    marks.count = (Py_ssize_t)(changes.size / sizeof(Py_ssize_t));
    if (!failed)
        result = group(data, (size_t)size, &places, &imports, &marks);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "bad arguments, or no memory");
    free(places.bytes);
    free(pairs.numbers);
    free(imports.numbers);
    free(names.numbers);
    free(marks.numbers);
    if (result || PyErr_Occurred())
        return result;
    Py_RETURN_NONE;
}
