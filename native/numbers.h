/* Numbers as characters of UTF-8: gitindex/store/numbers.py. */
#ifndef GITINDEX_NUMBERS_H
#define GITINDEX_NUMBERS_H

#include "table.h"

typedef struct {
    const unsigned char *at, *end;
} Reader;

static const int64_t MAX_ID = (int64_t)1 << 60; /* nothing overflows */

/* One number of `unpack_numbers`; -1 if there is none. */
int64_t next_number(Reader *reader);
/* Adds a number as `pack_numbers` writes it; -1 if it is no character, or where memory ends. */
int put_number(Buffer *buffer, int64_t number);

#endif
