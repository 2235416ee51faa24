/* Lines, signatures and the places of docs: `_symbol` of gitindex/languages/syntax/outline.py, and
   `tokens` of gitindex/languages/syntax/interface.py.

   A signature with other than ASCII is None, and so is that of a section: Python reads those. */
#include "nodes.h"

enum { MAX_SIGNATURE = 240, READ_AHEAD = 2000, MAX_GAP = 200, FIELDS = 7 };
enum { PLAIN = 0, VALUE = 1, SECTION = 2 }; /* how the signature of a kind ends */

typedef struct {
    const char *data;
    Py_ssize_t size;
    Numbers starts, ends; /* of comments */
    Py_ssize_t *lines;    /* where lines start */
    size_t line_count;
} File;

typedef struct {
    Py_ssize_t start, end, anchor, body, name, kind, doc;
} Definition;

static int is_blank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13); } /* of bytes */
static int is_space(unsigned char c) { return is_blank(c) || (c >= 28 && c <= 31); } /* of text */
static int is_word(unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static Py_ssize_t least(Py_ssize_t one, Py_ssize_t other) { return one < other ? one : other; }

static Py_ssize_t line_at(const File *file, Py_ssize_t place) {
    return (Py_ssize_t)at_most(file->lines, file->line_count, place) - 1;
}

static int all_blank(const File *file, Py_ssize_t start, Py_ssize_t end) {
    for (end = least(end, file->size); start < end; start++)
        if (!is_blank((unsigned char)file->data[start]))
            return 0;
    return 1;
}

static int read_lines(File *file) {
    Buffer lines = {0};
    Py_ssize_t at = 0;
    int failed = buffer_add(&lines, (char *)&at, sizeof at);
    const char *found;
    while (!failed && at < file->size &&
           (found = memchr(file->data + at, '\n', (size_t)(file->size - at)))) {
        at = found - file->data + 1;
        failed = buffer_add(&lines, (char *)&at, sizeof at);
    }
    file->lines = (Py_ssize_t *)lines.bytes;
    file->line_count = lines.size / sizeof at;
    return failed;
}

static int add_bytes(Buffer *out, const File *file, Py_ssize_t start, Py_ssize_t end) {
    end = least(end, file->size);
    return start < end ? buffer_add(out, file->data + start, (size_t)(end - start)) : 0;
}

/* The text of a range, a blank for each comment: `Details.text`. */
static int range_text(const File *file, Py_ssize_t start, Py_ssize_t end, Buffer *out) {
    size_t count = (size_t)file->starts.count;
    size_t at = below(file->starts.numbers, count, start);
    out->size = 0;
    for (; at < count && file->starts.numbers[at] < end; at++) {
        if (add_bytes(out, file, start, file->starts.numbers[at]) || buffer_add(out, " ", 1))
            return -1;
        start = least(file->ends.numbers[at], end);
    }
    return add_bytes(out, file, start, end);
}

/* One blank for any white space, none at the ends; -1 for other than ASCII. */
static Py_ssize_t on_one_line(char *text, size_t size) {
    size_t kept = 0;
    int gap = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 128)
            return -1;
        if (is_space(c)) {
            gap = kept > 0;
            continue;
        }
        if (gap)
            text[kept++] = ' ';
        gap = 0;
        text[kept++] = (char)c;
    }
    return (Py_ssize_t)kept;
}

static Py_ssize_t stripped(const char *text, Py_ssize_t size, const char *set) {
    while (size && strchr(set, text[size - 1]) && text[size - 1])
        size--;
    return size;
}

static int ends_with(const char *text, Py_ssize_t size, const char *tail) {
    Py_ssize_t length = (Py_ssize_t)strlen(tail);
    return size >= length && !memcmp(text + size - length, tail, (size_t)length);
}

/* Without what opens a body: `without_tail`. */
static Py_ssize_t without_tail(const char *text, Py_ssize_t size) {
    const char *openers = " {:=;,";
    size = stripped(text, size, openers);
    while (1) {
        if (ends_with(text, size, "=>") || ends_with(text, size, "->") || ends_with(text, size, " do"))
            size = stripped(text, size - 2, openers);
        else if (ends_with(text, size, " then"))
            size = stripped(text, size - 5, " ");
        else
            return size;
    }
}

static PyObject *signature(const File *file, const Definition *at, Buffer *scratch) {
    Py_ssize_t end = at->body >= 0 ? at->body : least(at->end, at->start + READ_AHEAD);
    if (at->kind == SECTION)
        Py_RETURN_NONE;
    if (range_text(file, at->start, end, scratch))
        return PyErr_NoMemory();
    Py_ssize_t size = on_one_line(scratch->bytes, scratch->size);
    if (size < 0)
        Py_RETURN_NONE;
    size = at->kind == VALUE ? stripped(scratch->bytes, size, "; ")
                             : without_tail(scratch->bytes, size);
    if (size <= MAX_SIGNATURE)
        return PyUnicode_FromStringAndSize(scratch->bytes, size);
    scratch->size = MAX_SIGNATURE - 1;
    if (buffer_add(scratch, "\xe2\x80\xa6", 3))
        return PyErr_NoMemory();
    return PyUnicode_FromStringAndSize(scratch->bytes, (Py_ssize_t)scratch->size);
}

/* The start of the line if only keywords come before. */
static Py_ssize_t first_word(const File *file, Py_ssize_t anchor) {
    Py_ssize_t line = file->lines[line_at(file, anchor)];
    for (Py_ssize_t at = line; at < least(anchor, file->size); at++)
        if (!is_word((unsigned char)file->data[at]) && !is_blank((unsigned char)file->data[at]))
            return anchor;
    if (anchor > line && !is_blank((unsigned char)file->data[least(anchor, file->size) - 1]))
        return anchor;
    while (line < file->size && is_blank((unsigned char)file->data[line]))
        line++;
    return line;
}

/* Does a comment on its own lines end right above a place? */
static int touches(const File *file, Py_ssize_t start, Py_ssize_t end, Py_ssize_t under) {
    int newlines = end > start && end <= file->size && file->data[end - 1] == '\n';
    for (Py_ssize_t at = end; at < least(under, file->size); at++)
        newlines += file->data[at] == '\n';
    return newlines <= 1 && all_blank(file, end, under) &&
           all_blank(file, file->lines[line_at(file, start)], start);
}

/* The comments right above a definition; -1 where there are none. */
static Py_ssize_t doc_start(const File *file, Py_ssize_t anchor, Py_ssize_t *end) {
    const Py_ssize_t *starts = file->starts.numbers, *ends = file->ends.numbers;
    Py_ssize_t last = (Py_ssize_t)at_most(ends, (size_t)file->ends.count, anchor) - 1;
    if (last < 0 || anchor - ends[last] > MAX_GAP)
        return -1;
    Py_ssize_t from = *end = first_word(file, anchor);
    for (; last >= 0 && touches(file, starts[last], ends[last], from); last--)
        from = starts[last];
    return from == *end ? -1 : from;
}

static PyObject *describe(const File *file, const Definition *at, Buffer *scratch) {
    Py_ssize_t line = line_at(file, at->name), doc = -1, doc_end = 0;
    Py_ssize_t first = at->anchor < file->lines[line] ? line_at(file, at->anchor) : line;
    PyObject *text = signature(file, at, scratch);
    if (!text)
        return NULL;
    if (!at->doc)
        doc = doc_start(file, at->anchor, &doc_end);
    return Py_BuildValue("(nnnnNnn)", line, at->name - file->lines[line], first,
                         line_at(file, least(at->end, file->size) - 1), text, doc, doc_end);
}

/* Places outside the text are an error. */
static int check_places(const File *file, const Numbers *fields) {
    int good = file->starts.count == file->ends.count && fields->count % FIELDS == 0;
    for (Py_ssize_t i = 0; i < file->starts.count && good; i++)
        good = file->starts.numbers[i] >= 0 && file->ends.numbers[i] >= 0;
    for (Py_ssize_t i = 0; i + FIELDS <= fields->count && good; i += FIELDS) {
        const Py_ssize_t *at = fields->numbers + i;
        good = at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[2] <= file->size && at[4] >= 0;
    }
    if (!good)
        PyErr_SetString(PyExc_ValueError, "a place outside the text");
    return good ? 0 : -1;
}

static PyObject *describe_all(const File *file, const Numbers *fields) {
    PyObject *found = PyList_New(0);
    Buffer scratch = {0};
    int failed = !found || buffer_reserve(&scratch, MAX_SIGNATURE + 8);
    for (Py_ssize_t i = 0; i + FIELDS <= fields->count && !failed; i += FIELDS) {
        const Py_ssize_t *at = fields->numbers + i;
        Definition definition = {at[0], at[1], at[2], at[3], at[4], at[5], at[6]};
        PyObject *row = describe(file, &definition, &scratch);
        failed = !row || PyList_Append(found, row);
        Py_XDECREF(row);
    }
    free(scratch.bytes);
    if (failed)
        Py_CLEAR(found);
    return found;
}

/* Words and marks with one blank between them; 1 for other than ASCII and for quotes. */
static int add_tokens(const char *text, Py_ssize_t size, Buffer *out) {
    size_t comma = 0; /* where the last mark stands, if it is a comma and not the first */
    out->size = 0;
    for (Py_ssize_t at = 0; at < size;) {
        unsigned char c = (unsigned char)text[at];
        Py_ssize_t start = at++;
        if (c >= 128 || c == '"' || c == '\'' || c == '`')
            return 1;
        if (is_space(c))
            continue;
        while (is_word(c) && at < size && is_word((unsigned char)text[at]))
            at++;
        if (comma && strchr(")]}>", c) && c)
            out->size = comma - 1;
        if (out->size && buffer_add(out, " ", 1))
            return -1;
        comma = c == ',' ? out->size : 0;
        if (buffer_add(out, text + start, (size_t)(at - start)))
            return -1;
    }
    out->size = (size_t)stripped(out->bytes, (Py_ssize_t)out->size, " :{;");
    return 0;
}

PyObject *plain_tokens(PyObject *module, PyObject *args) {
    PyObject *texts, *found = NULL;
    Buffer out = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &texts))
        return NULL;
    int failed = buffer_reserve(&out, 1) || !(found = PyList_New(0));
    for (Py_ssize_t i = 0; i < PyList_Size(texts) && !failed; i++) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(texts, i), &size);
        int odd = text ? add_tokens(text, size, &out) : -1;
        PyObject *line = odd ? NULL : PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.size);
        failed = odd < 0 || (!odd && !line) || PyList_Append(found, odd ? Py_None : line);
        Py_XDECREF(line);
    }
    free(out.bytes);
    if (failed)
        Py_CLEAR(found);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    return found;
}

PyObject *describe_symbols(PyObject *module, PyObject *args) {
    PyObject *starts, *ends, *listed, *result = NULL;
    Numbers fields = {0};
    File file;
    (void)module;
    memset(&file, 0, sizeof file);
    if (!PyArg_ParseTuple(args, "y#OOO", &file.data, &file.size, &starts, &ends, &listed))
        return NULL;
    if (!read_list(starts, &file.starts) && !read_list(ends, &file.ends) &&
        !read_list(listed, &fields) && !read_lines(&file) && !check_places(&file, &fields))
        result = describe_all(&file, &fields);
    if (!result && !PyErr_Occurred())
        PyErr_NoMemory();
    free(file.starts.numbers);
    free(file.ends.numbers);
    free(file.lines);
    free(fields.numbers);
    return result;
}
