/* BM25 over overlapping chunks of a text: `python_chunks` of gitindex/query/search/chunks.py. */
#include "table.h"

enum { MAX_TERMS = 128, MAX_PLACES = 80, MIN_INSIDE = 5, PAIRS = 1024, MAX_WINDOW = 8 };
static const double SATURATION = 1.2, INSIDE = 0.4;

typedef struct {
    const unsigned char *needle; /* small letters */
    size_t size, next;           /* the next place that may start one */
    double weight, beside;
    int whole, places, after; /* `after`: number + 1 of another term with the same last pair of the window */
    double *counts;
} Term;

typedef struct {
    double joint;
    int held;
} Chunk;

static size_t pair_of(const unsigned char *at) { return (at[0] & 31u) << 5 | (at[1] & 31u); }
static double saturated(double weight, double count) {
    return weight * (1 + SATURATION) * count / (count + SATURATION);
}

static int matches(const Term *term, const unsigned char *text, size_t left) {
    if (term->size > left)
        return 0;
    for (size_t i = 0; i < term->size; i++)
        if (lowered(text[i]) != term->needle[i])
            return 0;
    return 1;
}

/* What a place is worth: starts of words count most. */
static double worth_of(const Term *term, const unsigned char *text, size_t size, size_t at) {
    unsigned char before = at ? text[at - 1] : 32;
    double worth = 1.0;
    if ((is_lower(before) && !is_upper(text[at])) || is_upper(before))
        worth = term->size >= MIN_INSIDE ? INSIDE : 0.0;
    if ((term->whole || term->size <= 3) && worth) {
        unsigned char after = at + term->size < size ? lowered(text[at + term->size]) : 32;
        if (is_lower(after) && after != 's')
            worth = term->size <= 3 ? 0.0 : worth / 2;
    }
    return worth;
}

/* Counts the term if it stands at this place; says whether the term has all its places now. */
static int count_place(Term *term, const unsigned char *text, size_t size, size_t at, size_t step) {
    if (at < term->next || term->places == MAX_PLACES || !matches(term, text + at, size - at))
        return 0;
    double worth = worth_of(term, text, size, at);
    term->next = at + term->size;
    if (!worth)
        return 0;
    term->counts[at / step] += worth;
    return ++term->places == MAX_PLACES;
}

/* Counts the terms in every step; each term is looked for from left to right, without overlaps.
   As Wu and Manber do: a pair of letters says how far the next place is at least. */
static void count_places(Term *terms, int count, const unsigned char *text, size_t size,
                         size_t step) {
    short first[PAIRS] = {0};
    unsigned char skip[PAIRS];
    size_t window = MAX_WINDOW;
    int open = 0;
    for (int i = 0; i < count; i++)
        if (terms[i].size > 1 && terms[i].size < window)
            window = terms[i].size;
    memset(skip, (int)window - 1, sizeof skip);
    for (int i = count - 1; i >= 0; i--) {
        if (terms[i].size < 2) { /* a single letter: rare */
            for (size_t at = 0; at < size; at++)
                count_place(&terms[i], text, size, at, step);
            continue;
        }
        for (size_t at = 0; at + 2 <= window; at++) {
            size_t pair = pair_of(terms[i].needle + at), far = window - 2 - at;
            if (far < skip[pair])
                skip[pair] = (unsigned char)far;
        }
        size_t last = pair_of(terms[i].needle + window - 2);
        terms[i].after = first[last];
        first[last] = (short)(i + 1);
        open++;
    }
    for (size_t at = 0; at + window <= size && open;) {
        size_t pair = pair_of(text + at + window - 2);
        if (skip[pair]) {
            at += skip[pair];
            continue;
        }
        for (int i = first[pair]; i; i = terms[i - 1].after)
            open -= count_place(&terms[i - 1], text, size, at, step);
        at++;
    }
}

/* Adds the terms to the chunks, in their order: every sum is the same as Python's. */
static void add_terms(const Term *terms, int count, Chunk *chunks, size_t steps) {
    for (int i = 0; i < count; i++) {
        const Term *term = &terms[i];
        double least = saturated(term->weight, term->beside);
        for (size_t at = 0; term->places && at < steps; at++) {
            double held = term->counts[at] + (at + 1 < steps ? term->counts[at + 1] : 0.0);
            if (!held)
                continue;
            chunks[at].joint += saturated(term->weight, held + term->beside) - least;
            chunks[at].held = 1;
        }
    }
}

static PyObject *answer(const Term *terms, int count, const Chunk *chunks, size_t steps) {
    double base = 0.0, most = 0.0;
    int any = 0;
    for (int i = 0; i < count; i++)
        base += saturated(terms[i].weight, terms[i].beside);
    for (size_t at = 0; at < steps; at++)
        if (chunks[at].held && (!any || chunks[at].joint > most)) {
            most = chunks[at].joint;
            any = 1;
        }
    return PyFloat_FromDouble(base + most);
}

static int read_terms(PyObject *listed, Term *terms, int count) {
    for (int i = 0; i < count; i++) {
        Py_ssize_t size;
        const char *needle;
        PyObject *term = PyTuple_GetItem(listed, i);
        if (!PyTuple_Check(term)) {
            PyErr_SetString(PyExc_TypeError, "a term is no tuple");
            return -1;
        }
        if (!PyArg_ParseTuple(term, "y#dpd", &needle, &size, &terms[i].weight,
                              &terms[i].whole, &terms[i].beside))
            return -1;
        if (size < 1) {
            PyErr_SetString(PyExc_ValueError, "a term is empty");
            return -1;
        }
        terms[i].needle = (const unsigned char *)needle;
        terms[i].size = (size_t)size;
        terms[i].next = 0;
        terms[i].places = 0;
    }
    return 0;
}

PyObject *score_chunks(PyObject *module, PyObject *args) {
    const char *text;
    Py_ssize_t size, step;
    PyObject *listed, *result = NULL;
    Term terms[MAX_TERMS];
    (void)module;
    if (!PyArg_ParseTuple(args, "y#O!n", &text, &size, &PyTuple_Type, &listed, &step))
        return NULL;
    Py_ssize_t count = PyTuple_Size(listed);
    if (count > MAX_TERMS || step < 1) {
        PyErr_SetString(PyExc_ValueError, "bad terms");
        return NULL;
    }
    if (read_terms(listed, terms, (int)count))
        return NULL;
    size_t steps = (size_t)size / (size_t)step + 1;
    double *counts = calloc((size_t)count * steps + 1, sizeof *counts);
    Chunk *chunks = calloc(steps, sizeof *chunks);
    if (counts && chunks) {
        for (int i = 0; i < count; i++)
            terms[i].counts = counts + (size_t)i * steps;
        count_places(terms, (int)count, (const unsigned char *)text, (size_t)size, (size_t)step);
        add_terms(terms, (int)count, chunks, steps);
        result = answer(terms, (int)count, chunks, steps);
    } else
        PyErr_NoMemory();
    free(counts);
    free(chunks);
    return result;
}
