#include "checker/judge/stream/key_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum {
    LENGTH_BITS = 7,  /* of a length in each byte, the lowest first; the highest bit marks that more follow */
    LENGTH_BYTES = 5, /* at most */
    GROWTH_SHARE = 8, /* a page grows by this share of its size */
};

void rig_key_pages_done(struct rig_key_pages *pages)
{
    for (size_t i = 0; i < pages->pages.count; i++)
        free(pages->pages.at[i].bytes);
    rig_key_page_vec_done(&pages->pages);
    rig_table_done(&pages->ids);
    pages->owned_bytes = 0;
}

size_t rig_key_pages_bytes(const struct rig_key_pages *pages)
{
    return pages->pages.capacity * sizeof(struct rig_key_page) + pages->ids.slot_count * 12 + pages->owned_bytes;
}

static size_t put_length(uint8_t *bytes, size_t length)
{
    size_t size = 0;
    for (; length >> LENGTH_BITS != 0; length >>= LENGTH_BITS)
        bytes[size++] = (uint8_t)(length | 1U << LENGTH_BITS);
    bytes[size++] = (uint8_t)length;
    return size;
}

static size_t get_length(const uint8_t **bytes)
{
    size_t length = 0, shift = 0;
    uint8_t byte;
    do {
        byte = *(*bytes)++;
        length |= (size_t)(byte & ((1U << LENGTH_BITS) - 1)) << shift;
        shift += LENGTH_BITS;
    } while (byte >> LENGTH_BITS != 0);
    return length;
}

static uint32_t bit_of(uint64_t name)
{
    return UINT32_C(1) << (name & (RIG_PAGE_KEYS - 1));
}

/* The place of the name in the page, or the one where it belongs. */
static size_t offset_of(const struct rig_key_page *page, uint64_t name)
{
    const uint8_t *at = page->bytes;
    for (int before = __builtin_popcount(page->held & (bit_of(name) - 1)); before > 0; before--) {
        size_t length = get_length(&at);
        at += length;
    }
    return page->bytes == NULL ? 0 : (size_t)(at - page->bytes);
}

static uint32_t place_of(const struct rig_key_pages *pages, uint64_t name)
{
    return rig_table_get(&pages->ids, name >> RIG_PAGE_BITS);
}

/* The page of a name, made where there is none; NULL when memory runs out. */
static struct rig_key_page *page_for(struct rig_key_pages *pages, uint64_t name)
{
    struct rig_key_page_vec *vec = &pages->pages;
    uint32_t place = place_of(pages, name);
    if (place != RIG_TABLE_NONE)
        return &vec->at[place];
    if (vec->count >= RIG_TABLE_NONE ||
        (vec->count == vec->capacity && !rig_key_page_vec_widen(vec, vec->count + vec->count / GROWTH_SHARE + 16)))
        return NULL;
    uint32_t *id = rig_table_put(&pages->ids, name >> RIG_PAGE_BITS);
    if (id == NULL)
        return NULL;
    *id = (uint32_t)vec->count;
    vec->at[vec->count] = (struct rig_key_page){.number = name >> RIG_PAGE_BITS};
    return &vec->at[vec->count++];
}

bool rig_key_pages_put(struct rig_key_pages *pages, uint64_t name, const uint8_t *bytes, size_t length, uint32_t now)
{
    uint8_t head[LENGTH_BYTES];
    if (length > UINT32_MAX / 2)
        return false;
    struct rig_key_page *page = page_for(pages, name);
    if (page == NULL)
        return false;
    RIG_REQUIRE((page->held & bit_of(name)) == 0);
    size_t head_size = put_length(head, length), size = head_size + length, offset = offset_of(page, name);
    RIG_INVARIANT(offset <= page->size);
    uint8_t *grown = size > UINT32_MAX - page->size ? NULL : realloc(page->bytes, page->size + size);
    if (grown == NULL) {
        if (page->held == 0)
            rig_key_pages_remove_page(pages, (size_t)(page - pages->pages.at));
        return false;
    }
    memmove(grown + offset + size, grown + offset, page->size - offset);
    memcpy(grown + offset, head, head_size);
    memcpy(grown + offset + head_size, bytes, length);
    page->bytes = grown;
    page->size += (uint32_t)size;
    page->held |= bit_of(name);
    page->last = now;
    pages->owned_bytes += size;
    return true;
}

const uint8_t *rig_key_pages_get(const struct rig_key_pages *pages, uint64_t name, size_t *length)
{
    uint32_t place = place_of(pages, name);
    if (place == RIG_TABLE_NONE || (pages->pages.at[place].held & bit_of(name)) == 0)
        return NULL;
    const struct rig_key_page *page = &pages->pages.at[place];
    const uint8_t *at = page->bytes + offset_of(page, name);
    *length = get_length(&at);
    RIG_INVARIANT(at + *length <= page->bytes + page->size);
    return at;
}

void rig_key_pages_remove(struct rig_key_pages *pages, uint64_t name)
{
    uint32_t place = place_of(pages, name);
    RIG_REQUIRE(place != RIG_TABLE_NONE && (pages->pages.at[place].held & bit_of(name)) != 0);
    struct rig_key_page *page = &pages->pages.at[place];
    page->held &= ~bit_of(name);
    if (page->held == 0) {
        rig_key_pages_remove_page(pages, place);
        return;
    }
    size_t offset = offset_of(page, name);
    const uint8_t *behind = page->bytes + offset;
    size_t length = get_length(&behind);
    behind += length;
    size_t size = (size_t)(behind - (page->bytes + offset));
    RIG_INVARIANT(offset + size <= page->size);
    memmove(page->bytes + offset, behind, page->size - offset - size);
    page->size -= (uint32_t)size;
    pages->owned_bytes -= size;
    uint8_t *fitting = realloc(page->bytes, page->size);
    if (fitting != NULL)
        page->bytes = fitting;
}

void rig_key_pages_remove_page(struct rig_key_pages *pages, size_t place)
{
    struct rig_key_page_vec *vec = &pages->pages;
    RIG_REQUIRE(place < vec->count);
    struct rig_key_page *page = &vec->at[place];
    const struct rig_key_page *last = &vec->at[vec->count - 1];
    RIG_INVARIANT(pages->owned_bytes >= page->size);
    pages->owned_bytes -= page->size;
    free(page->bytes);
    rig_table_remove(&pages->ids, page->number);
    if (page != last) {
        *page = *last;
        *rig_table_put(&pages->ids, page->number) = (uint32_t)place; /* it is there: nothing is allocated */
    }
    vec->count--;
}

void rig_key_pages_fit(struct rig_key_pages *pages)
{
    struct rig_table ids;
    rig_table_init(&ids);
    for (size_t i = 0; i < pages->pages.count; i++) {
        uint32_t *id = rig_table_put(&ids, pages->pages.at[i].number);
        if (id == NULL) {
            rig_table_done(&ids);
            return;
        }
        *id = (uint32_t)i;
    }
    rig_table_done(&pages->ids);
    pages->ids = ids;
    rig_key_page_vec_fit_to(&pages->pages, pages->pages.count);
}
