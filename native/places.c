/* The places of one name in a blob: `python_find` of gitindex/store/blob_names.py.

   Returns None for a row that is not as we write it: Python says what is wrong with it. */
#include "table.h"

typedef struct {
    const unsigned char *at, *end;
} Reader;

static const int64_t MAX_ID = (int64_t)1 << 60; /* nothing overflows */
enum { MARK = 0x10FFFF, LOW_BITS = 20 };

/* One character of UTF-8, surrogates included; -1 for anything else. */
static int64_t next_character(Reader *reader) {
    static const int64_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (reader->at == reader->end)
        return -1;
    unsigned char lead = *reader->at;
    int size = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (!size || lead >= 0xF8 || reader->end - reader->at < size)
        return -1;
    int64_t value = size == 1 ? lead : lead & (0x7F >> size);
    for (int i = 1; i < size; i++) {
        if ((reader->at[i] & 0xC0) != 0x80)
            return -1;
        value = value << 6 | (reader->at[i] & 0x3F);
    }
    reader->at += size;
    return value < least[size] || value > MARK ? -1 : value;
}

/* One number of `unpack_numbers` of gitindex/store/numbers.py; -1 if there is none. */
static int64_t next_number(Reader *reader) {
    int64_t value = next_character(reader);
    if (value != MARK)
        return value;
    int64_t high = next_character(reader), low = next_character(reader);
    return high < 0 || low < 0 ? -1 : (high << LOW_BITS) + low;
}

PyObject *find_places(PyObject *module, PyObject *args) {
    (void)module;
    const char *names, *places;
    Py_ssize_t names_size, size;
    long long wanted;
    if (!PyArg_ParseTuple(args, "y#y#L", &names, &names_size, &places, &size, &wanted))
        return NULL;
    Reader reader = {(const unsigned char *)names, (const unsigned char *)names + names_size};
    int64_t count = next_number(&reader), id = 0, found = -1, start = 0, length = 0, total = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t step = next_number(&reader);
        if (step <= 0 || id > MAX_ID)
            Py_RETURN_NONE;
        id += step;
        if (id == wanted)
            found = i;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t part = next_number(&reader);
        if (part <= 0 || part > size - total)
            Py_RETURN_NONE;
        if (i == found) {
            start = total;
            length = part;
        }
        total += part;
    }
    if (count <= 0 || reader.at != reader.end || total != size)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(places + start, (Py_ssize_t)length);
}
