/* What all parts share: a table of byte strings in the order of their first appearance, and a buffer. */
#ifndef GITINDEX_TABLE_H
#define GITINDEX_TABLE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t at, length;    /* its bytes in the arena */
    uint64_t hash;
    uint32_t count, mark; /* for the caller */
} Entry;

typedef struct {
    Entry *entries;
    size_t size, room;
    uint32_t *slots; /* number of the entry + 1; 0 is free */
    size_t slot_count;
    char *arena;
    size_t used, arena_room;
} Table;

typedef struct {
    char *bytes;
    size_t size, room;
} Buffer;

#define NO_ENTRY SIZE_MAX

void table_seed(uint64_t first, uint64_t second);
int table_init(Table *table);
void table_free(Table *table);
/* The number of the entry with this key, made where it is missing; NO_ENTRY where memory ends. */
size_t table_put(Table *table, const char *key, size_t length);
static inline const char *table_key(const Table *table, size_t number) {
    return table->arena + table->entries[number].at;
}

static inline int is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
static inline int is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
static inline unsigned char lowered(unsigned char c) { return is_upper(c) ? c + 32 : c; }

/* All return 0, or -1 where memory ends. */
int buffer_reserve(Buffer *buffer, size_t more);
int buffer_add(Buffer *buffer, const char *bytes, size_t length);

typedef PyObject *Function(PyObject *module, PyObject *args); /* of the module */
Function terms_of_text, group_names, sweep_ranges, score_chunks;

#endif
