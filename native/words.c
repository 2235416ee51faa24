/* The words of many texts as the rows of a text index: `pack_words` of gitindex/store/text_rows.py. */
#include "table.h"

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

static uint32_t symbol_number(unsigned char c) {
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 1u;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 27u;
    if (c >= '0' && c <= '9')
        return c - '0' + 53u;
    return c == '_' ? 63u : 0u;
}

/* Marks in which blocks three symbols stand side by side; a blank in the middle says nothing. */
static void mark_block(unsigned char *filter, size_t width, size_t number, const Buffer *row,
                       size_t buckets) {
    for (size_t i = 0; i + 2 < row->size; i++) {
        uint32_t middle = symbol_number((unsigned char)row->bytes[i + 1]);
        if (!middle)
            continue;
        uint32_t code = symbol_number((unsigned char)row->bytes[i]) << 12 | middle << 6 |
                        symbol_number((unsigned char)row->bytes[i + 2]);
        size_t bucket = ((uint32_t)(code * 2654435761u) >> 8) % buckets;
        filter[bucket * width + number / 8] |= (unsigned char)(1u << (number & 7));
    }
}

/* Writes the rows of words and of postings, block by block; returns 0 or -1. */
static int write_rows(Held *held, const Layout *layout, Word *sorted, size_t count, size_t *starts,
                      uint32_t *ordinals, PyObject *word_rows, PyObject *posting_rows,
                      PyObject **filter) {
    size_t blocks = (count + layout->block - 1) / layout->block, width = (blocks + 7) / 8;
    unsigned char *bits = calloc(layout->buckets, width ? width : 1);
    Buffer row = {0}, postings = {0};
    int failed = bits == NULL;
    for (size_t i = 0; i < count && !failed; i++) {
        size_t number = sorted[i].number;
        if (i % layout->chunk == 0)
            failed = i % layout->block ? buffer_add(&row, "\n ", 2) : buffer_add(&row, " ", 1);
        else
            failed = buffer_add(&postings, " ", 1);
        failed = failed || buffer_add(&row, sorted[i].key, sorted[i].length) ||
                 buffer_add(&row, " ", 1) ||
                 pack_ordinals(&postings, ordinals + starts[number],
                               held->words.entries[number].count);
        if (!failed && (i + 1 == count || (i + 1) % layout->chunk == 0))
            failed = append_row(posting_rows, &postings);
        if (!failed && (i + 1 == count || (i + 1) % layout->block == 0)) {
            mark_block(bits, width, i / layout->block, &row, layout->buckets);
            failed = append_row(word_rows, &row);
        }
    }
    if (!failed) {
        *filter = PyBytes_FromStringAndSize((char *)bits, (Py_ssize_t)(layout->buckets * width));
        failed = *filter == NULL;
    }
    free(row.bytes);
    free(postings.bytes);
    free(bits);
    return failed ? -1 : 0;
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

static PyObject *rows_of(Held *held, const Layout *layout, PyObject *wide) {
    PyObject *words = PyList_New(0), *postings = PyList_New(0), *filter = NULL, *result = NULL;
    size_t *starts = malloc((held->words.size + 1) * sizeof *starts);
    Word *sorted = malloc((held->words.size + 1) * sizeof *sorted);
    uint32_t *ordinals = starts ? sort_pairs(held, starts) : NULL;
    if (words && postings && sorted && ordinals) {
        size_t count = 0;
        for (size_t i = 0; i < held->words.size; i++)
            if (held->words.entries[i].count)
                sorted[count++] = (Word){table_key(&held->words, i), held->words.entries[i].length, i};
        qsort(sorted, count, sizeof *sorted, compare);
        if (!write_rows(held, layout, sorted, count, starts, ordinals, words, postings, &filter))
            result = Py_BuildValue("(OOOO)", wide, words, postings, filter);
    }
    Py_XDECREF(words);
    Py_XDECREF(postings);
    Py_XDECREF(filter);
    free(starts);
    free(sorted);
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
