/* A hash table with a secret: words of a repository are hostile, and must not be made to collide. */
#include "table.h"

static uint64_t secret[2];

void table_seed(uint64_t first, uint64_t second) {
    secret[0] = first;
    secret[1] = second;
}

#define ROTATED(x, n) (((x) << (n)) | ((x) >> (64 - (n))))
#define ROUND                                                                                      \
    do {                                                                                           \
        a += b; b = ROTATED(b, 13); b ^= a; a = ROTATED(a, 32);                                    \
        c += d; d = ROTATED(d, 16); d ^= c;                                                        \
        a += d; d = ROTATED(d, 21); d ^= a;                                                        \
        c += b; b = ROTATED(b, 17); b ^= c; c = ROTATED(c, 32);                                    \
    } while (0)

/* SipHash with one round per word and three at the end. */
static uint64_t hash_of(const char *key, size_t length) {
    uint64_t a = secret[0] ^ 0x736f6d6570736575ULL, b = secret[1] ^ 0x646f72616e646f6dULL;
    uint64_t c = secret[0] ^ 0x6c7967656e657261ULL, d = secret[1] ^ 0x7465646279746573ULL;
    uint64_t word, last = (uint64_t)length << 56;
    size_t left = length;
    for (; left >= 8; key += 8, left -= 8) {
        memcpy(&word, key, 8);
        d ^= word;
        ROUND;
        a ^= word;
    }
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)(unsigned char)key[i] << (8 * i);
    d ^= last;
    ROUND;
    a ^= last;
    c ^= 0xff;
    ROUND;
    ROUND;
    ROUND;
    return a ^ b ^ c ^ d;
}

int table_init(Table *table) {
    memset(table, 0, sizeof *table);
    table->slot_count = 1024;
    table->slots = calloc(table->slot_count, sizeof *table->slots);
    return table->slots ? 0 : -1;
}

void table_free(Table *table) {
    free(table->entries);
    free(table->slots);
    free(table->arena);
    memset(table, 0, sizeof *table);
}

static int grow(void **bytes, size_t *room, size_t wanted, size_t size) {
    size_t more = *room ? *room : 64;
    while (more < wanted) {
        if (more > SIZE_MAX / 2 / size)
            return -1;
        more *= 2;
    }
    if (more == *room)
        return 0;
    void *moved = realloc(*bytes, more * size);
    if (!moved)
        return -1;
    *bytes = moved;
    *room = more;
    return 0;
}

static int rehash(Table *table) {
    size_t count = table->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < table->size; i++) {
        size_t at = table->entries[i].hash & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)(i + 1);
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    return 0;
}

size_t table_put(Table *table, const char *key, size_t length) {
    uint64_t hash = hash_of(key, length);
    size_t at = hash & (table->slot_count - 1);
    for (; table->slots[at]; at = (at + 1) & (table->slot_count - 1)) {
        Entry *held = &table->entries[table->slots[at] - 1];
        if (held->hash == hash && held->length == length &&
            memcmp(table->arena + held->at, key, length) == 0)
            return table->slots[at] - 1;
    }
    if (table->size >= UINT32_MAX - 1 ||
        grow((void **)&table->entries, &table->room, table->size + 1, sizeof(Entry)) ||
        grow((void **)&table->arena, &table->arena_room, table->used + length + 1, 1))
        return NO_ENTRY;
    size_t number = table->size;
    table->entries[number] = (Entry){table->used, length, hash, 0, 0};
    memcpy(table->arena + table->used, key, length);
    table->used += length;
    table->slots[at] = (uint32_t)(number + 1);
    table->size++;
    if (table->size * 2 > table->slot_count && rehash(table))
        return NO_ENTRY;
    return number;
}

int buffer_reserve(Buffer *buffer, size_t more) {
    if (more > SIZE_MAX - buffer->size)
        return -1;
    return grow((void **)&buffer->bytes, &buffer->room, buffer->size + more, 1);
}

int buffer_add(Buffer *buffer, const char *bytes, size_t length) {
    if (buffer_reserve(buffer, length))
        return -1;
    memcpy(buffer->bytes + buffer->size, bytes, length);
    buffer->size += length;
    return 0;
}
