/* The words of many texts as the rows of a text index: `pack_words` of gitindex/store/text_rows.py. */
#include "table.h"

typedef struct {
    size_t chunk, block, buckets;
    size_t count;            /* words so far */
    Buffer words, postings;  /* the rows that are open */
    PyObject *word_rows, *posting_rows;
} Rows;

/* These return 0, or -1 with or without an exception: without one, memory ended. */
static int rows_begin(Rows *rows, size_t chunk, size_t block, size_t buckets) {
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

/* Words come in ascending order, each with its ordinals in ascending order. */
static int rows_add(Rows *rows, const char *word, size_t length, const uint32_t *ordinals, size_t count) {
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

static int rows_end(Rows *rows) {
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

/* A bit per bucket and block: set where the block has three symbols of the bucket side by side. */
static PyObject *rows_filter(const Rows *rows) {
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

static void rows_free(Rows *rows) {
    Py_XDECREF(rows->word_rows);
    Py_XDECREF(rows->posting_rows);
    free(rows->words.bytes);
    free(rows->postings.bytes);
}

typedef struct {
    unsigned char symbols[256]; /* how a byte is kept; a blank ends a word */
    size_t most, chunk, block, buckets;
} Layout;

typedef struct {
    Table words;
    Buffer pairs; /* numbers of words, text by text; UINT32_MAX ends a text */
} Held;

/* Collects the distinct words of one text; `wide` where they are too many. */
static int add_text(Held *held, const Layout *layout, const char *text, size_t size,
                    uint32_t ordinal, Buffer *scratch, int *wide) {
    const uint32_t end_mark = UINT32_MAX;
    size_t first = held->pairs.size, total = 0;
    scratch->size = 0;
    if (buffer_reserve(scratch, size + 1))
        return -1;
    char *kept = scratch->bytes;
    for (size_t i = 0; i < size; i++)
        kept[i] = (char)layout->symbols[(unsigned char)text[i]];
    for (size_t at = 0; at < size;) {
        if (kept[at] == ' ') {
            at++;
            continue;
        }
        size_t start = at;
        while (at < size && kept[at] != ' ')
            at++;
        size_t number = table_put(&held->words, kept + start, at - start);
        if (number == NO_ENTRY)
            return -1;
        if (held->words.entries[number].mark == ordinal + 1)
            continue;
        held->words.entries[number].mark = ordinal + 1;
        total += at - start;
        uint32_t stored = (uint32_t)number;
        if (buffer_add(&held->pairs, (char *)&stored, sizeof stored))
            return -1;
    }
    *wide = total > layout->most;
    if (*wide)
        held->pairs.size = first;
    return buffer_add(&held->pairs, (const char *)&end_mark, sizeof end_mark);
}

/* The ordinals of each word, ascending, one word after the other: `starts[word]` is where. */
static uint32_t *sort_pairs(Held *held, size_t *starts) {
    size_t count = held->pairs.size / sizeof(uint32_t);
    const uint32_t *pairs = (const uint32_t *)held->pairs.bytes;
    uint32_t *ordinals = malloc((count + 1) * sizeof *ordinals);
    if (!ordinals)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (pairs[i] != UINT32_MAX)
            held->words.entries[pairs[i]].count++;
    size_t at = 0;
    for (size_t i = 0; i < held->words.size; i++) {
        starts[i] = at;
        at += held->words.entries[i].count;
        held->words.entries[i].mark = 0; /* filled so far */
    }
    uint32_t ordinal = 0;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i] == UINT32_MAX)
            ordinal++;
        else
            ordinals[starts[pairs[i]] + held->words.entries[pairs[i]].mark++] = ordinal;
    }
    return ordinals;
}

typedef struct {
    const char *key;
    size_t length, number;
} Word;

static int compare(const void *one, const void *other) {
    const Word *a = one, *b = other;
    int said = memcmp(a->key, b->key, a->length < b->length ? a->length : b->length);
    return said ? said : (a->length > b->length) - (a->length < b->length);
}

static int add_texts(Held *held, const Layout *layout, PyObject *texts, PyObject *wide) {
    Buffer scratch = {0};
    Py_ssize_t count = PyTuple_Size(texts);
    int failed = count < 0 || count >= (Py_ssize_t)(UINT32_MAX - 1);
    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        char *text;
        Py_ssize_t size;
        int is_wide = 0;
        failed = PyBytes_AsStringAndSize(PyTuple_GetItem(texts, i), &text, &size) ||
                 add_text(held, layout, text, (size_t)size, (uint32_t)i, &scratch, &is_wide);
        if (!failed && is_wide) {
            PyObject *number = PyLong_FromSsize_t(i);
            failed = number == NULL || PyList_Append(wide, number);
            Py_XDECREF(number);
        }
    }
    free(scratch.bytes);
    return failed ? -1 : 0;
}

/* Writes the words that some text has, in their order. */
static int write_rows(Held *held, Rows *rows, const size_t *starts, const uint32_t *ordinals) {
    Word *sorted = malloc((held->words.size + 1) * sizeof *sorted);
    size_t count = 0;
    int failed = sorted == NULL;
    for (size_t i = 0; i < held->words.size && !failed; i++)
        if (held->words.entries[i].count)
            sorted[count++] = (Word){table_key(&held->words, i), held->words.entries[i].length, i};
    if (!failed)
        qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count && !failed; i++) {
        size_t number = sorted[i].number;
        failed = rows_add(rows, sorted[i].key, sorted[i].length, ordinals + starts[number],
                          held->words.entries[number].count);
    }
    free(sorted);
    return failed || rows_end(rows) ? -1 : 0;
}

static PyObject *rows_of(Held *held, const Layout *layout, PyObject *wide) {
    PyObject *filter = NULL, *result = NULL;
    Rows rows;
    size_t *starts = malloc((held->words.size + 1) * sizeof *starts);
    uint32_t *ordinals = starts ? sort_pairs(held, starts) : NULL;
    int failed = rows_begin(&rows, layout->chunk, layout->block, layout->buckets);
    if (ordinals && !failed && !write_rows(held, &rows, starts, ordinals))
        filter = rows_filter(&rows);
    if (filter)
        result = Py_BuildValue("(OOOO)", wide, rows.word_rows, rows.posting_rows, filter);
    Py_XDECREF(filter);
    rows_free(&rows);
    free(starts);
    free(ordinals);
    return result;
}

PyObject *pack_texts(PyObject *module, PyObject *args) {
    Layout layout;
    Held held;
    const char *symbols;
    PyObject *texts, *wide, *result = NULL;
    Py_ssize_t size, most, chunk, block, buckets;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!y#nnnn", &PyTuple_Type, &texts, &symbols, &size, &most, &chunk,
                          &block, &buckets))
        return NULL;
    if (size != 256 || most < 0 || chunk < 1 || block < chunk || block % chunk || buckets < 1) {
        PyErr_SetString(PyExc_ValueError, "bad layout");
        return NULL;
    }
    memcpy(layout.symbols, symbols, 256);
    layout.most = (size_t)most;
    layout.chunk = (size_t)chunk;
    layout.block = (size_t)block;
    layout.buckets = (size_t)buckets;
    memset(&held, 0, sizeof held);
    wide = PyList_New(0);
    if (wide && !table_init(&held.words) && !add_texts(&held, &layout, texts, wide))
        result = rows_of(&held, &layout, wide);
    if (!result && !PyErr_Occurred())
        PyErr_NoMemory();
    Py_XDECREF(wide);
    table_free(&held.words);
    free(held.pairs.bytes);
    return result;
}
