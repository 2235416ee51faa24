/* The rows of a text index while they are written: words in blocks, and per chunk of words their blobs. */
#ifndef GITINDEX_ROWS_H
#define GITINDEX_ROWS_H

#include "table.h"

typedef struct {
    size_t chunk, block, buckets;
    size_t count;            /* words so far */
    Buffer words, postings;  /* the rows that are open */
    PyObject *word_rows, *posting_rows;
} Rows;

/* All return 0, or -1 with or without an exception: without one, memory ended. */
int rows_begin(Rows *rows, size_t chunk, size_t block, size_t buckets);
/* Words come in ascending order, each with its ordinals in ascending order. */
int rows_add(Rows *rows, const char *word, size_t length, const uint32_t *ordinals, size_t count);
int rows_end(Rows *rows);
/* A bit per bucket and block: set where the block has three symbols of the bucket side by side. */
PyObject *rows_filter(const Rows *rows);
void rows_free(Rows *rows);

#endif
