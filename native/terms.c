/* The terms of a text: `_python_terms` of gitindex/extract/terms.py, byte for byte. */
#include "table.h"

enum { MAX_TERM = 200, MAX_REPEATS = 5, MAX_TERM_BYTES = 400000 };

static int is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static int is_word(unsigned char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || c == '_' || c >= 128;
}

/* `once`: the number of a word of which each term counts once; 0 where any does. */
static int count_term(Table *terms, const char *term, size_t length, uint32_t count, uint32_t once) {
    size_t number = table_put(terms, term, length);
    if (number == NO_ENTRY)
        return -1;
    Entry *held = &terms->entries[number];
    if (once && held->mark == once)
        return 0;
    held->mark = once;
    held->count = count > UINT32_MAX - held->count ? UINT32_MAX : held->count + count;
    return 0;
}

/* Letters only, and all small, all capitals, or a capital first: such a word is one term. */
static int is_simple(const char *word, size_t length) {
    size_t upper = 0;
    for (size_t i = 0; i < length; i++) {
        if (is_upper((unsigned char)word[i]))
            upper++;
        else if (!is_lower((unsigned char)word[i]))
            return 0;
    }
    return upper == 0 || upper == length || (upper == 1 && is_upper((unsigned char)word[0]));
}

/* The end of the part that starts at `at`, which is no underscore. */
static size_t part_end(const char *word, size_t length, size_t at) {
    size_t end = at;
    if (is_digit((unsigned char)word[at])) {
        while (end < length && is_digit((unsigned char)word[end]))
            end++;
        return end;
    }
    while (end < length && is_upper((unsigned char)word[end]))
        end++;
    if (end < length && is_lower((unsigned char)word[end]) && end - at > 1)
        return end - 1;
    if (end - at <= 1)
        while (end < length && is_lower((unsigned char)word[end]))
            end++;
    return end;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

typedef struct {
    size_t at, length;
} Span;

/* Counts every term of an ASCII word that is not its own only term. `lower` is the word in small letters. */
static int count_terms(Table *terms, const char *word, const char *lower, size_t length,
                       Buffer *scratch, uint32_t count, uint32_t once) {
    size_t parts = 0, joined = 0;
    scratch->size = 0;
    if (buffer_reserve(scratch, length + (length + 1) * sizeof(Span) + sizeof(Span)))
        return -1;
    Span *spans = (Span *)scratch->bytes; /* at most one part for each byte */
    char *text = scratch->bytes + (length + 1) * sizeof(Span);
    for (size_t at = 0; at < length;) {
        if (word[at] == '_') {
            at++;
            continue;
        }
        size_t end = part_end(word, length, at);
        spans[parts++] = (Span){joined, least(end - at, MAX_TERM)};
        memcpy(text + joined, lower + at, end - at);
        joined += end - at;
        at = end;
    }
    size_t whole = least(length, MAX_TERM);
    if (count_term(terms, lower, whole, count, once))
        return -1;
    if (parts < 2) {
        size_t first = 0, last = whole;
        while (first < last && lower[first] == '_')
            first++;
        while (last > first && lower[last - 1] == '_')
            last--;
        return last > first ? count_term(terms, lower + first, last - first, count, once) : 0;
    }
    if (count_term(terms, text, least(joined, MAX_TERM), count, once))
        return -1;
    for (size_t i = 0; i < parts; i++)
        if (count_term(terms, text + spans[i].at, spans[i].length, count, once))
            return -1;
    return 0;
}

/* Words that are more than ASCII: Python says what their terms are, with a blank between them. */
static int count_foreign(Table *terms, PyObject *expand, const char *word, size_t length,
                         uint32_t count) {
    PyObject *said = PyObject_CallFunction(expand, "y#", word, (Py_ssize_t)length);
    char *text;
    Py_ssize_t size;
    if (!said)
        return -2;
    if (PyBytes_AsStringAndSize(said, &text, &size)) {
        Py_DECREF(said);
        return -2;
    }
    int failed = 0;
    for (Py_ssize_t at = 0; at < size && !failed;) {
        const char *blank = memchr(text + at, ' ', (size_t)(size - at));
        Py_ssize_t end = blank ? blank - text : size;
        if (end > at)
            failed = count_term(terms, text + at, (size_t)(end - at), count, 0);
        at = end + 1;
    }
    Py_DECREF(said);
    return failed;
}

static int count_words(Table *words, const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        if (!is_word((unsigned char)text[at])) {
            at++;
            continue;
        }
        size_t start = at;
        unsigned char seen = 0;
        for (; at < size && is_word((unsigned char)text[at]); at++)
            seen |= (unsigned char)text[at];
        size_t number = table_put(words, text + start, at - start);
        if (number == NO_ENTRY)
            return -1;
        if (words->entries[number].count < UINT32_MAX)
            words->entries[number].count++;
        words->entries[number].mark = seen >= 128;
    }
    return 0;
}

/* Words that are their own only term first, then the terms of the others: each in order. */
static int expand_words(const Table *words, Table *terms, PyObject *expand, Buffer *scratch,
                        Buffer *lower) {
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < words->size; i++) {
            const Entry *entry = &words->entries[i];
            const char *word = table_key(words, i);
            size_t length = entry->length;
            if (entry->mark) {
                int failed = others ? count_foreign(terms, expand, word, length, entry->count) : 0;
                if (failed)
                    return failed;
                continue;
            }
            int simple = is_simple(word, length);
            int own = length <= MAX_TERM && (simple ? !is_upper((unsigned char)word[0]) : 0);
            if (!simple && length <= MAX_TERM) { /* digits alone, underscores alone */
                size_t digits = 0, bars = 0;
                for (size_t k = 0; k < length; k++) {
                    digits += is_digit((unsigned char)word[k]) != 0;
                    bars += word[k] == '_';
                }
                own = digits == length || bars == length;
            }
            if (own == others)
                continue;
            if (own) {
                if (count_term(terms, word, length, entry->count, 0))
                    return -1;
                continue;
            }
            lower->size = 0;
            if (buffer_reserve(lower, length))
                return -1;
            for (size_t k = 0; k < length; k++)
                lower->bytes[k] = (char)lowered((unsigned char)word[k]);
            uint32_t once = (uint32_t)(i + 1);
            size_t whole = least(length, MAX_TERM);
            int failed =
                simple ? count_term(terms, lower->bytes, whole, entry->count, 0)
                       : count_terms(terms, word, lower->bytes, length, scratch, entry->count, once);
            if (failed)
                return failed;
        }
    return 0;
}

/* Ends with the mark where a term was cut, or where there are too many. */
static int write_terms(const Table *terms, Buffer *out) {
    size_t longest = 0, total = 0;
    for (size_t i = 0; i < terms->size; i++) {
        size_t length = terms->entries[i].length;
        longest = length > longest ? length : longest;
        total += length;
    }
    int repeated = 0; /* a second blank stands before the first repetition */
    for (uint32_t round = 0; round < MAX_REPEATS; round++)
        for (size_t i = 0; i < terms->size; i++) {
            if (terms->entries[i].count <= round)
                continue;
            if ((round && !repeated++ && buffer_add(out, " ", 1)) ||
                buffer_add(out, table_key(terms, i), terms->entries[i].length) ||
                buffer_add(out, " ", 1))
                return -1;
        }
    return longest >= MAX_TERM || total > MAX_TERM_BYTES ? buffer_add(out, "* ", 2) : 0;
}

PyObject *terms_of_text(PyObject *module, PyObject *args) {
    const char *text;
    Py_ssize_t size;
    PyObject *expand, *result = NULL;
    Table words = {0}, terms = {0};
    Buffer scratch = {0}, lower = {0}, out = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#O", &text, &size, &expand))
        return NULL;
    int failed = table_init(&words) || table_init(&terms) || count_words(&words, text, (size_t)size);
    if (!failed)
        failed = expand_words(&words, &terms, expand, &scratch, &lower);
    if (!failed)
        failed = write_terms(&terms, &out);
    if (!failed)
        result = PyBytes_FromStringAndSize(out.bytes, out.size ? (Py_ssize_t)out.size - 1 : 0);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    table_free(&words);
    table_free(&terms);
    free(scratch.bytes);
    free(lower.bytes);
    free(out.bytes);
    return result;
}
