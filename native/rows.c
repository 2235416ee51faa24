/* Writes rows of words and postings: `pack_words` of gitindex/store/text_rows.py. */
#include "rows.h"

int rows_begin(Rows *rows, size_t chunk, size_t block, size_t buckets) {
    memset(rows, 0, sizeof *rows);
    rows->chunk = chunk;
    rows->block = block;
    rows->buckets = buckets;
    rows->word_rows = PyList_New(0);
    rows->posting_rows = PyList_New(0);
    return rows->word_rows && rows->posting_rows ? 0 : -1;
}

/* Distances, six bits to a byte, as `pack_ordinals`. */
static int pack_ordinals(Buffer *out, const uint32_t *ordinals, size_t count) {
    int64_t last = -1;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)((int64_t)ordinals[i] - last);
        last = ordinals[i];
        char bytes[8];
        size_t size = 0;
        for (; value >= 64; value >>= 6)
            bytes[size++] = (char)(0x80 | 64 | (value & 63));
        bytes[size++] = (char)(0x80 | value);
        if (buffer_add(out, bytes, size))
            return -1;
    }
    return 0;
}

static int append_row(PyObject *rows, Buffer *row) {
    PyObject *bytes = PyBytes_FromStringAndSize(row->bytes, (Py_ssize_t)row->size);
    if (!bytes)
        return -1;
    int failed = PyList_Append(rows, bytes);
    Py_DECREF(bytes);
    row->size = 0;
    return failed;
}

int rows_add(Rows *rows, const char *word, size_t length, const uint32_t *ordinals, size_t count) {
    int failed;
    if (rows->count % rows->chunk)
        failed = buffer_add(&rows->postings, " ", 1);
    else
        failed = rows->count % rows->block ? buffer_add(&rows->words, "\n ", 2)
                                           : buffer_add(&rows->words, " ", 1);
    if (failed || buffer_add(&rows->words, word, length) || buffer_add(&rows->words, " ", 1) ||
        pack_ordinals(&rows->postings, ordinals, count))
        return -1;
    rows->count++;
    if (rows->count % rows->chunk == 0 && append_row(rows->posting_rows, &rows->postings))
        return -1;
    return rows->count % rows->block == 0 ? append_row(rows->word_rows, &rows->words) : 0;
}

int rows_end(Rows *rows) {
    if (rows->count % rows->chunk && append_row(rows->posting_rows, &rows->postings))
        return -1;
    return rows->count % rows->block ? append_row(rows->word_rows, &rows->words) : 0;
}

static uint32_t symbol_number(unsigned char c) {
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 1u;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 27u;
    if (c >= '0' && c <= '9')
        return c - '0' + 53u;
    return c == '_' ? 63u : 0u;
}

/* A blank in the middle says nothing. */
static void mark_block(unsigned char *filter, size_t width, size_t number, const char *row,
                       size_t size, size_t buckets) {
    for (size_t i = 0; i + 2 < size; i++) {
        uint32_t middle = symbol_number((unsigned char)row[i + 1]);
        if (!middle)
            continue;
        uint32_t code = symbol_number((unsigned char)row[i]) << 12 | middle << 6 |
                        symbol_number((unsigned char)row[i + 2]);
        size_t bucket = ((uint32_t)(code * 2654435761u) >> 8) % buckets;
        filter[bucket * width + number / 8] |= (unsigned char)(1u << (number & 7));
    }
}

PyObject *rows_filter(const Rows *rows) {
    Py_ssize_t blocks = PyList_Size(rows->word_rows), size;
    size_t width = ((size_t)blocks + 7) / 8;
    unsigned char *bits = calloc(rows->buckets, width ? width : 1);
    PyObject *filter = NULL;
    char *row;
    int failed = bits == NULL;
    for (Py_ssize_t i = 0; i < blocks && !failed; i++) {
        failed = PyBytes_AsStringAndSize(PyList_GetItem(rows->word_rows, i), &row, &size);
        if (!failed)
            mark_block(bits, width, (size_t)i, row, (size_t)size, rows->buckets);
    }
    if (!failed)
        filter = PyBytes_FromStringAndSize((char *)bits, (Py_ssize_t)(rows->buckets * width));
    free(bits);
    return filter;
}

void rows_free(Rows *rows) {
    Py_XDECREF(rows->word_rows);
    Py_XDECREF(rows->posting_rows);
    free(rows->words.bytes);
    free(rows->postings.bytes);
}
