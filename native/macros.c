/* Lines of C that may begin with a macro: `_CANDIDATE` of gitindex/languages/syntax/macros.py. */
#include "table.h"

static const char *const STORAGE[] = {"static", "inline", "extern", "constexpr", "virtual", "friend"};
enum { WORDS = sizeof STORAGE / sizeof *STORAGE };

static int is_blank(char c) { return c == ' ' || c == '\t'; }
static int is_capital(char c) { return c >= 'A' && c <= 'Z'; }
static int is_rest(char c) { return is_capital(c) || (c >= '0' && c <= '9') || c == '_'; }

static const char *after_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Behind one word of storage and its blanks; the same place where there is none. */
static const char *after_storage(const char *at, const char *end) {
    for (size_t i = 0; i < WORDS; i++) {
        size_t length = strlen(STORAGE[i]);
        if ((size_t)(end - at) > length && is_blank(at[length]) && !memcmp(at, STORAGE[i], length))
            return after_blanks(at + length, end);
    }
    return at;
}

PyObject *macro_lines(PyObject *module, PyObject *args) {
    const char *data, *at, *next;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &data, &size))
        return NULL;
    PyObject *found = PyList_New(0);
    const char *end = data + size, *line = data;
    while (found && line < end && (line = memchr(line, '\n', (size_t)(end - line)))) {
        line++;
        for (at = after_blanks(line, end); at < end && (next = after_storage(at, end)) != at;)
            at = next;
        if (end - at < 3 || !is_capital(at[0]) || !is_rest(at[1]) || !is_rest(at[2]))
            continue;
        PyObject *place = PyLong_FromSsize_t(line - data);
        if (!place || PyList_Append(found, place))
            Py_CLEAR(found);
        Py_XDECREF(place);
    }
    return found;
}
