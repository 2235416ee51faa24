/* Reads and writes numbers: `unpack_numbers` and `pack_numbers` of gitindex/store/numbers.py. */
#include "numbers.h"

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

int64_t next_number(Reader *reader) {
    int64_t value = next_character(reader);
    if (value != MARK)
        return value;
    int64_t high = next_character(reader), low = next_character(reader);
    return high < 0 || low < 0 ? -1 : (high << LOW_BITS) + low;
}

int put_number(Buffer *buffer, int64_t number) {
    unsigned char bytes[4];
    size_t size = number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
    if (number < 0 || number >= MARK)
        return -1;
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (unsigned char)(0x80 | (number & 0x3F));
        number >>= 6;
    }
    bytes[0] = (unsigned char)(size == 1 ? number : (0xF0 << (4 - size) & 0xFF) | number);
    return buffer_add(buffer, (char *)bytes, size);
}
