/* The places of one name in a blob: `python_find` of gitindex/store/blob_names.py.

   Returns None for a row that is not as we write it: Python says what is wrong with it. */
#include "numbers.h"

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
