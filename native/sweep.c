/* Captures nested by their ranges: `events_of` and `Sweep` of gitindex/languages/syntax, without headings.

   Names that are not simply spelled in the text, and receivers, are read by a function of Python. */
#include "nodes.h"

enum { BODY, OUTER, DEF, IMPL, LOCAL, GUARD, ACCESS, DOC, RECEIVER, NAME, PATH, MARKED, TEXT, RANKS };
enum { FUNCTION = 1, SCOPE = 2, VALUE = 4, HIDDEN = 8, KEY = 16, EXPORT = 32 }; /* what a kind is */
enum { METHOD = -1, NOBODY = -1, NOWHERE = -1, MAX_KEY_DEPTH = 3 };

typedef struct {
    uint32_t start, end;
    int rank, order, group;
} Event;

typedef struct {
    int rank, kind, flags; /* `kind`: number of its group, or METHOD */
    int64_t start, end, anchor, body, doc, doc_end, name_start, name_end;
    int64_t access, access_end, label, label_end;
    int exported, local, guarded, shut, depth;
    int32_t outer, owner, named; /* numbers of scopes */
    int needed;
    PyObject *name, *prefix; /* NULL: none */
} Range;

typedef struct {
    const char *data;
    size_t size;
    Range *ranges;
    size_t count, room;
    Buffer stack, found; /* numbers of ranges */
    PyObject *attached, *read_name;
} State;

/* Takes over a reference. */
static void set_object(PyObject **held, PyObject *made) {
    PyObject *before = *held;
    *held = made;
    Py_XDECREF(before);
}

static int by_place(const void *one, const void *other) {
    const Event *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->rank != b->rank ? a->rank - b->rank : a->order - b->order;
}

static Range *top_of(const State *state) {
    size_t open = state->stack.size / sizeof(int32_t);
    return open ? &state->ranges[((const int32_t *)state->stack.bytes)[open - 1]] : NULL;
}

static Range *numbered(const State *state, int32_t number) {
    return number == NOBODY ? NULL : &state->ranges[number];
}

static int is_owner(const Range *range) { return range->rank == DEF || range->rank == IMPL; }

static Range *holder(const State *state, Range *range) {
    return is_owner(range) ? range : numbered(state, range->owner);
}

static Range *namer(const State *state, Range *range) {
    return range->rank == LOCAL ? NULL : is_owner(range) ? range : numbered(state, range->named);
}

static int is_boundary(const Range *range) {
    return range->rank == IMPL || range->rank == LOCAL ||
           (range->rank == DEF && range->flags & SCOPE);
}

static int64_t idle_until(const State *state, Range *top, int64_t start) {
    Range *owner = top->shut ? holder(state, top) : NULL;
    if (!owner || owner->body < 0 || owner->body > start)
        return 0;
    return top->end < owner->end ? top->end : owner->end;
}

static int has_no_effect(int rank, int flags) {
    return rank == DEF ? flags & HIDDEN : rank == LOCAL || rank == GUARD || rank >= NAME;
}

static Range *new_range(State *state, int rank, int kind, int flags, int64_t start, int64_t end) {
    if (state->count == state->room) {
        size_t room = state->room ? 2 * state->room : 64;
        Range *grown = room < INT32_MAX ? realloc(state->ranges, room * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        state->ranges = grown;
        state->room = room;
    }
    Range *made = &state->ranges[state->count++];
    memset(made, 0, sizeof *made);
    made->rank = rank;
    made->kind = kind;
    made->flags = flags;
    made->start = made->anchor = start;
    made->end = end;
    made->body = made->doc = made->name_start = made->name_end = NOWHERE;
    made->access = made->label = NOWHERE;
    made->outer = made->owner = made->named = NOBODY;
    return made;
}

static void inherit(State *state, Range *range, Range *top) {
    int boundary = is_boundary(top);
    Range *held = holder(state, top), *named = namer(state, top);
    range->outer = boundary ? (int32_t)(top - state->ranges) : top->outer;
    Range *outer = numbered(state, range->outer);
    range->depth = outer ? outer->depth + 1 : 0;
    range->local = outer && (outer->local || outer->rank == LOCAL || outer->flags & FUNCTION);
    range->guarded = top->rank == GUARD || (top->guarded && !boundary);
    range->shut = top->shut;
    range->owner = held ? (int32_t)(held - state->ranges) : NOBODY;
    range->named = named ? (int32_t)(named - state->ranges) : NOBODY;
    range->label = outer ? outer->access : NOWHERE;
    range->label_end = outer ? outer->access_end : 0;
    if (top->rank == OUTER) {
        range->anchor = top->anchor;
        range->exported = range->exported || top->exported;
    }
}

static int open_range(State *state, const Event *event, int flags) {
    Range *range = new_range(state, event->rank, event->group, flags, event->start, event->end);
    if (!range)
        return -1;
    PyObject *start = PyLong_FromUnsignedLong(event->start);
    PyObject *anchor = start ? PyDict_GetItemWithError(state->attached, start) : NULL;
    Py_XDECREF(start);
    if (anchor)
        range->anchor = PyLong_AsLongLong(anchor);
    if (PyErr_Occurred())
        return -1;
    range->exported = (flags & EXPORT) != 0;
    Range *top = top_of(state);
    if (top)
        inherit(state, range, top);
    if (range->rank == LOCAL || (range->rank == DEF && flags & FUNCTION))
        range->shut = 1;
    else if (range->rank == IMPL || (range->rank == DEF && flags & SCOPE))
        range->shut = 0;
    int32_t number = (int32_t)(state->count - 1);
    return buffer_add(&state->stack, (char *)&number, sizeof number);
}

static PyObject *text_of(const State *state, int64_t start, int64_t end) {
    size_t from = (size_t)start < state->size ? (size_t)start : state->size;
    size_t until = (size_t)end < state->size ? (size_t)end : state->size;
    return PyUnicode_DecodeUTF8(state->data + from, until > from ? (Py_ssize_t)(until - from) : 0,
                                "replace");
}

/* (name, start, end, prefix or None, whether it is a member), as Python reads it. */
static PyObject *read_name(const State *state, const Event *event, PyObject *prefix) {
    PyObject *said = PyObject_CallFunction(state->read_name, "iIIO", event->rank, event->start,
                                           event->end, prefix ? prefix : Py_None);
    if (said && !PyTuple_Check(said)) {
        PyErr_SetString(PyExc_TypeError, "a name is no tuple");
        Py_CLEAR(said);
    }
    return said;
}

static int add_detail(State *state, const Event *event) {
    Range *top = top_of(state), *owner = top ? holder(state, top) : NULL;
    if (!owner)
        return 0;
    if (event->rank == BODY) {
        if (owner->body < 0 && !(owner->flags & VALUE))
            owner->body = event->start;
    } else if (event->rank == DOC) {
        if (owner->doc < 0) {
            owner->doc = event->start;
            owner->doc_end = event->end;
        }
    } else if (event->rank == ACCESS) {
        owner->access = event->start;
        owner->access_end = event->end;
    } else {
        PyObject *said = read_name(state, event, owner->prefix), *prefix;
        if (!said || !(prefix = PyTuple_GetItem(said, 0))) {
            Py_XDECREF(said);
            return -1;
        }
        Py_INCREF(prefix);
        Py_DECREF(said);
        set_object(&owner->prefix, prefix);
    }
    return 0;
}

/* Another symbol with the same range, for a second name. */
static Range *twin_of(State *state, int32_t number) {
    Range *twin = new_range(state, DEF, METHOD, 0, 0, 0);
    if (!twin)
        return NULL;
    *twin = state->ranges[number];
    twin->rank = DEF;
    twin->doc = twin->name_start = twin->name_end = twin->access = NOWHERE;
    twin->owner = twin->named = NOBODY;
    twin->shut = twin->depth = 0;
    twin->name = twin->prefix = NULL;
    return twin;
}

static int set_name(State *state, Range *owner, PyObject *name, int64_t start, int64_t end) {
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a name is no text");
        return -1;
    }
    if (PyUnicode_GetLength(name) == 0)
        return 0;
    Py_INCREF(name);
    set_object(&owner->name, name);
    owner->name_start = start;
    owner->name_end = end;
    int32_t number = (int32_t)(owner - state->ranges);
    return buffer_add(&state->found, (char *)&number, sizeof number);
}

static int set_odd_name(State *state, Range *owner, const Event *event) {
    PyObject *said = read_name(state, event, NULL), *name, *prefix;
    long long start, end;
    int member, failed;
    if (!said)
        return -1;
    failed = !PyArg_ParseTuple(said, "OLLOp", &name, &start, &end, &prefix, &member);
    if (!failed && prefix != Py_None) {
        Py_INCREF(prefix);
        set_object(&owner->prefix, prefix);
    }
    if (!failed && member) {
        owner->kind = METHOD;
        owner->flags = FUNCTION | SCOPE;
    }
    failed = failed || set_name(state, owner, name, start, end);
    Py_DECREF(said);
    return failed ? -1 : 0;
}

static int is_local(const State *state, const Range *range) {
    const Range *outer = range->local ? numbered(state, range->outer) : NULL;
    return outer && range->flags & HIDDEN && (outer->flags & FUNCTION || outer->rank == LOCAL);
}

static int add_name(State *state, const Event *event) {
    Range *top = top_of(state), *owner = top ? namer(state, top) : NULL;
    if (!owner || (owner->body >= 0 && owner->body <= event->start) || is_local(state, owner))
        return 0;
    if (owner->rank == IMPL) {
        if (!owner->prefix || PyUnicode_GetLength(owner->prefix) == 0)
            set_object(&owner->prefix, text_of(state, event->start, event->end));
        return owner->prefix ? 0 : -1;
    }
    int blank = event->end == event->start + 1 && event->start < state->size &&
                state->data[event->start] == '_';
    if (blank || (owner->flags & KEY && owner->depth > MAX_KEY_DEPTH))
        return 0;
    if (owner->name && !(owner = twin_of(state, (int32_t)(owner - state->ranges))))
        return -1;
    if (event->rank != NAME)
        return set_odd_name(state, owner, event);
    PyObject *name = text_of(state, event->start, event->end);
    int failed = !name || set_name(state, owner, name, event->start, event->end);
    Py_XDECREF(name);
    return failed ? -1 : 0;
}

static int run(State *state, const Event *events, size_t count, const int *flags) {
    int64_t idle = 0, start;
    const Event *last = NULL; /* the last definition */
    for (size_t i = 0; i < count; i++) {
        const Event *event = &events[i];
        int what = flags[event->group], failed = 0;
        start = event->start;
        if (event->rank == DEF) {
            const Event *next = event + 1; /* of definitions of one range the last is the strongest */
            if (i + 1 < count && next->rank == DEF && next->start == event->start &&
                next->end == event->end)
                continue;
            last = event;
        } else if (event->rank == LOCAL && last && last->start == event->start &&
                   last->end == event->end)
            continue; /* a named definition is not an anonymous function */
        if (start < idle && has_no_effect(event->rank, what))
            continue;
        Range *top;
        while ((top = top_of(state)) && top->end <= start)
            state->stack.size -= sizeof(int32_t);
        if (event->rank >= OUTER && event->rank <= GUARD) {
            if (!top || !idle_until(state, top, start) || !has_no_effect(event->rank, what))
                failed = open_range(state, event, what);
        } else if (event->rank >= NAME)
            failed = add_name(state, event);
        else
            failed = add_detail(state, event);
        if (failed)
            return -1;
        top = top_of(state);
        idle = top ? idle_until(state, top, start) : 0;
    }
    return 0;
}

/* The ranges that have a name and those around them, in the order in which they opened. */
static PyObject *answer(State *state) {
    const int32_t *found = (const int32_t *)state->found.bytes;
    size_t named = state->found.size / sizeof *found;
    PyObject *ranges = PyList_New(0), *numbers = PyList_New(0), *empty = PyUnicode_FromString("");
    int failed = !ranges || !numbers || !empty, position = 0;
    for (size_t i = 0; i < named; i++)
        for (Range *range = &state->ranges[found[i]]; range && !range->needed;
             range = numbered(state, range->outer))
            range->needed = 1;
    for (size_t i = 0; i < state->count && !failed; i++) {
        Range *range = &state->ranges[i];
        if (!range->needed)
            continue;
        Range *outer = numbered(state, range->outer);
        range->needed = ++position;
        PyObject *row = Py_BuildValue(
            "(iiLLiLLLLOLLOiLL)", range->rank, range->kind, (long long)range->start,
            (long long)range->end, outer ? outer->needed - 1 : NOBODY, (long long)range->anchor,
            (long long)range->body, (long long)range->doc, (long long)range->doc_end,
            range->name ? range->name : empty, (long long)range->name_start,
            (long long)range->name_end, range->prefix ? range->prefix : empty,
            range->exported | range->local << 1 | range->guarded << 2, (long long)range->label,
            (long long)range->label_end);
        failed = !row || PyList_Append(ranges, row);
        Py_XDECREF(row);
    }
    for (size_t i = 0; i < named && !failed; i++) {
        PyObject *number = PyLong_FromLong(state->ranges[found[i]].needed - 1);
        failed = !number || PyList_Append(numbers, number);
        Py_XDECREF(number);
    }
    PyObject *result = failed ? NULL : Py_BuildValue("(OO)", ranges, numbers);
    Py_XDECREF(ranges), Py_XDECREF(numbers), Py_XDECREF(empty);
    return result;
}

/* Each group: rank, order among equal places, what its kind is, its nodes. */
static int read_groups(PyObject *groups, Buffer *events, int *flags) {
    Py_ssize_t count = PyTuple_Size(groups);
    for (Py_ssize_t i = 0; i < count; i++) {
        int rank, order;
        PyObject *nodes, *group = PyTuple_GetItem(groups, i);
        if (!PyTuple_Check(group))
            PyErr_SetString(PyExc_TypeError, "a group is no tuple");
        else if (PyArg_ParseTuple(group, "iiiO!", &rank, &order, &flags[i], &PyList_Type, &nodes) &&
                 (rank < 0 || rank >= RANKS))
            PyErr_SetString(PyExc_ValueError, "bad rank");
        if (PyErr_Occurred())
            return -1;
        for (Py_ssize_t at = 0; at < PyList_Size(nodes); at++) {
            Event event = {0, 0, rank, order, (int)i};
            PyObject *node = PyList_GetItem(nodes, at);
            if (!node || node_range(node, &event.start, &event.end) ||
                buffer_add(events, (char *)&event, sizeof event))
                return -1;
        }
    }
    return 0;
}

PyObject *sweep_ranges(PyObject *module, PyObject *args) {
    PyObject *groups, *result = NULL;
    Py_ssize_t size;
    State state;
    Buffer events = {0};
    (void)module;
    memset(&state, 0, sizeof state);
    if (!PyArg_ParseTuple(args, "y#O!O!O", &state.data, &size, &PyTuple_Type, &groups,
                          &PyDict_Type, &state.attached, &state.read_name))
        return NULL;
    state.size = (size_t)size;
    int *flags = calloc((size_t)PyTuple_Size(groups) + 1, sizeof *flags);
    if (flags && !read_groups(groups, &events, flags)) {
        if (events.size)
            qsort(events.bytes, events.size / sizeof(Event), sizeof(Event), by_place);
        if (!run(&state, (const Event *)events.bytes, events.size / sizeof(Event), flags))
            result = answer(&state);
    }
    if (!result && !PyErr_Occurred())
        PyErr_NoMemory();
    for (size_t i = 0; i < state.count; i++) {
        Py_XDECREF(state.ranges[i].name);
        Py_XDECREF(state.ranges[i].prefix);
    }
    free(state.ranges);
    free(state.stack.bytes);
    free(state.found.bytes);
    free(events.bytes);
    free(flags);
    return result;
}
