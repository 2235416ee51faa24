/* Segments of a text index as one: `python_merge` of gitindex/store/text_rows.py.

   All segments are read side by side, in the order of their words. Returns None for rows that are not as
   we write them: Python does it then. */
#include "rows.h"

enum { GOOD = 0, ODD = 1, NO_MORE_MEMORY = -1, MAX_SHIFT = 30 };

typedef struct {
    PyObject *blocks, *postings;  /* tuples of rows */
    Py_ssize_t block, posting;    /* the next row of each */
    const char *text, *text_end;  /* what is left of this block */
    const char *list, *list_end;  /* what is left of this row of postings */
    const uint32_t *new_ordinals; /* UINT32_MAX: the blob is gone */
    size_t ordinals, read;        /* `read`: words so far */
    const char *word;             /* NULL at the end */
    size_t length;
} Cursor;

static int row_of(PyObject *rows, Py_ssize_t number, const char **start, const char **end) {
    char *bytes;
    Py_ssize_t size;
    PyObject *row = PyTuple_GetItem(rows, number);
    if (!row || PyBytes_AsStringAndSize(row, &bytes, &size))
        return -1;
    *start = bytes;
    *end = bytes + size;
    return 0;
}

/* Goes to the next word; what is left of the postings must belong to it. */
static int next_word(Cursor *cursor, size_t chunk) {
    const char *before = cursor->word;
    size_t length = cursor->length;
    cursor->word = NULL;
    while (1) {
        while (cursor->text < cursor->text_end && (*cursor->text == ' ' || *cursor->text == '\n'))
            cursor->text++;
        if (cursor->text < cursor->text_end)
            break;
        if (cursor->block == PyTuple_Size(cursor->blocks))
            return cursor->list == cursor->list_end &&
                           cursor->posting == PyTuple_Size(cursor->postings)
                       ? GOOD
                       : ODD;
        if (row_of(cursor->blocks, cursor->block++, &cursor->text, &cursor->text_end))
            return -1;
    }
    const char *start = cursor->text;
    while (cursor->text < cursor->text_end && *cursor->text != ' ')
        cursor->text++;
    cursor->word = start;
    cursor->length = (size_t)(cursor->text - start);
    if (before) {
        size_t least = length < cursor->length ? length : cursor->length;
        int said = memcmp(before, start, least);
        if (said > 0 || (said == 0 && length >= cursor->length))
            return ODD;
    }
    if (cursor->read++ % chunk) {
        if (cursor->list == cursor->list_end || *cursor->list != ' ')
            return ODD;
        cursor->list++;
        return GOOD;
    }
    if (cursor->list != cursor->list_end || cursor->posting == PyTuple_Size(cursor->postings))
        return ODD;
    return row_of(cursor->postings, cursor->posting++, &cursor->list, &cursor->list_end);
}

/* Adds the new ordinals of the cursor's word, which are above those that were added before. */
static int add_ordinals(Cursor *cursor, Buffer *found) {
    size_t last = 0; /* one more than the last ordinal */
    while (cursor->list < cursor->list_end && *cursor->list != ' ') {
        size_t value = 0, shift = 0;
        unsigned char byte;
        do {
            byte = cursor->list < cursor->list_end ? (unsigned char)*cursor->list++ : 0;
            if (byte < 128 || shift > MAX_SHIFT)
                return ODD;
            value |= (size_t)(byte & 63) << shift;
            shift += 6;
        } while (byte & 64);
        last += value;
        if (!value || last > cursor->ordinals)
            return ODD;
        uint32_t ordinal = cursor->new_ordinals[last - 1];
        if (ordinal != UINT32_MAX && buffer_add(found, (char *)&ordinal, sizeof ordinal))
            return NO_MORE_MEMORY;
    }
    return last ? GOOD : ODD;
}

static int is_before(const Cursor *one, const Cursor *other) {
    size_t least = one->length < other->length ? one->length : other->length;
    int said = memcmp(one->word, other->word, least);
    return said < 0 || (said == 0 && one->length < other->length);
}

static int merge(Cursor *cursors, size_t count, Rows *rows, Buffer *found) {
    while (1) {
        Cursor *first = NULL;
        for (size_t i = 0; i < count; i++)
            if (cursors[i].word && (!first || is_before(&cursors[i], first)))
                first = &cursors[i];
        if (!first)
            return GOOD;
        const char *word = first->word;
        size_t length = first->length;
        found->size = 0;
        for (Cursor *at = first; at < cursors + count; at++) {
            if (!at->word || at->length != length || memcmp(at->word, word, length))
                continue;
            int odd = add_ordinals(at, found);
            if (odd || (odd = next_word(at, rows->chunk)))
                return odd;
        }
        if (found->size && rows_add(rows, word, length, (const uint32_t *)found->bytes,
                                    found->size / sizeof(uint32_t)))
            return NO_MORE_MEMORY;
    }
}

static int read_segments(PyObject *segments, Cursor *cursors, size_t count, size_t chunk) {
    uint32_t above = 0;
    for (size_t i = 0; i < count; i++) {
        Cursor *cursor = &cursors[i];
        const char *ordinals;
        Py_ssize_t size;
        PyObject *segment = PyTuple_GetItem(segments, (Py_ssize_t)i);
        if (!PyTuple_Check(segment)) {
            PyErr_SetString(PyExc_TypeError, "a segment is no tuple");
            return -1;
        }
        if (!PyArg_ParseTuple(segment, "O!O!y#", &PyTuple_Type, &cursor->blocks, &PyTuple_Type,
                              &cursor->postings, &ordinals, &size))
            return -1;
        if (size % 4 || (uintptr_t)ordinals % sizeof(uint32_t)) {
            PyErr_SetString(PyExc_ValueError, "bad ordinals");
            return -1;
        }
        cursor->new_ordinals = (const uint32_t *)ordinals;
        cursor->ordinals = (size_t)size / 4;
        for (size_t at = 0; at < cursor->ordinals; at++) {
            if (cursor->new_ordinals[at] == UINT32_MAX)
                continue;
            if (cursor->new_ordinals[at] < above) {
                PyErr_SetString(PyExc_ValueError, "ordinals do not ascend");
                return -1;
            }
            above = cursor->new_ordinals[at] + 1;
        }
        int odd = next_word(cursor, chunk);
        if (odd)
            return odd;
    }
    return GOOD;
}

PyObject *merge_texts(PyObject *module, PyObject *args) {
    PyObject *segments, *filter = NULL, *result = NULL;
    Py_ssize_t chunk, block, buckets;
    Rows rows;
    Buffer found = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nnn", &PyTuple_Type, &segments, &chunk, &block, &buckets))
        return NULL;
    if (chunk < 1 || block < chunk || block % chunk || buckets < 1) {
        PyErr_SetString(PyExc_ValueError, "bad layout");
        return NULL;
    }
    size_t count = (size_t)PyTuple_Size(segments);
    Cursor *cursors = calloc(count + 1, sizeof *cursors);
    int odd = rows_begin(&rows, (size_t)chunk, (size_t)block, (size_t)buckets);
    if (!cursors)
        odd = NO_MORE_MEMORY;
    if (!odd)
        odd = read_segments(segments, cursors, count, rows.chunk);
    if (!odd)
        odd = merge(cursors, count, &rows, &found);
    if (!odd)
        odd = rows_end(&rows);
    if (!odd && (filter = rows_filter(&rows)))
        result = Py_BuildValue("(nOOO)", (Py_ssize_t)rows.count, rows.word_rows,
                               rows.posting_rows, filter);
    Py_XDECREF(filter);
    rows_free(&rows);
    free(cursors);
    free(found.bytes);
    if (odd == ODD)
        Py_RETURN_NONE;
    if (!result && !PyErr_Occurred())
        PyErr_NoMemory();
    return result;
}
