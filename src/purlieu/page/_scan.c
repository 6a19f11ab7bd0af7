/* The hot part of markup.read in C: the same tokens, the same elements, the same text, a tenth of the time.

   markup.py is the truth, and says where in the HTML Standard each rule stands; this file only repeats it. Works on
   UTF-8: all that means something in HTML is ASCII, so text is decoded where it is kept and nowhere else. One pass,
   no recursion, no global state; every read is bounded by `end`. Only the stable ABI of Python 3.11 is used. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_BLOCKS 1 /* as far as the processor has them too */
#include <immintrin.h>
#endif

/* What a byte can be, in bits; the last four: it stands for itself in a URL's path, query, host, scheme. */
enum { WHITE = 1, SLASH = 2, CLOSE = 4, EQUALS = 8, LETTER = 16, DIGIT = 32, MARK = 64 /* ! ? */ };
enum { PATH = 128, QUERY = 256, HOST = 512, SCHEME = 1024 };

#define B (PATH | QUERY)
#define D (DIGIT | B | HOST | SCHEME)
#define U (LETTER | B)
#define L (LETTER | B | HOST | SCHEME)
static const uint16_t KINDS[256] = {
    ['\t'] = WHITE, ['\n'] = WHITE, ['\f'] = WHITE, ['\r'] = WHITE, [' '] = WHITE,
    ['/'] = SLASH | B, ['>'] = CLOSE, ['='] = EQUALS | B, ['!'] = MARK | B, ['?'] = MARK | QUERY,
    ['-'] = B | HOST | SCHEME, ['.'] = B | HOST | SCHEME, ['+'] = B | SCHEME, ['\''] = PATH,
    ['_'] = B, ['~'] = B, ['$'] = B, ['&'] = B, ['('] = B, [')'] = B, ['*'] = B, [','] = B, [';'] = B,
    [':'] = B, ['@'] = B, ['%'] = B,
    ['0'] = D, ['1'] = D, ['2'] = D, ['3'] = D, ['4'] = D, ['5'] = D, ['6'] = D, ['7'] = D, ['8'] = D,
    ['9'] = D,
    ['A'] = U, ['B'] = U, ['C'] = U, ['D'] = U, ['E'] = U, ['F'] = U, ['G'] = U, ['H'] = U, ['I'] = U,
    ['J'] = U, ['K'] = U, ['L'] = U, ['M'] = U, ['N'] = U, ['O'] = U, ['P'] = U, ['Q'] = U, ['R'] = U,
    ['S'] = U, ['T'] = U, ['U'] = U, ['V'] = U, ['W'] = U, ['X'] = U, ['Y'] = U, ['Z'] = U,
    ['a'] = L, ['b'] = L, ['c'] = L, ['d'] = L, ['e'] = L, ['f'] = L, ['g'] = L, ['h'] = L, ['i'] = L,
    ['j'] = L, ['k'] = L, ['l'] = L, ['m'] = L, ['n'] = L, ['o'] = L, ['p'] = L, ['q'] = L, ['r'] = L,
    ['s'] = L, ['t'] = L, ['u'] = L, ['v'] = L, ['w'] = L, ['x'] = L, ['y'] = L, ['z'] = L,
};
#undef B
#undef D
#undef U
#undef L

static inline int is(char byte, int kinds) { return KINDS[(unsigned char)byte] & kinds; }
static inline char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte; }

/* A name of up to eight bytes in lower case as one number, the first byte lowest; 0 for what is longer. */
typedef uint64_t Key;
#define K(i, c) ((Key)(c) << (8 * (i)))
#define K1(a) K(0, a)
#define K2(a, b) (K1(a) | K(1, b))
#define K3(a, b, c) (K2(a, b) | K(2, c))
#define K4(a, b, c, d) (K3(a, b, c) | K(3, d))
#define K5(a, b, c, d, e) (K4(a, b, c, d) | K(4, e))
#define K6(a, b, c, d, e, f) (K5(a, b, c, d, e) | K(5, f))
#define K7(a, b, c, d, e, f, g) (K6(a, b, c, d, e, f) | K(6, g))
#define K8(a, b, c, d, e, f, g, h) (K7(a, b, c, d, e, f, g) | K(7, h))
enum { KEY_BYTES = 8 };

#define A K1('a')
#define BASE K4('b', 'a', 's', 'e')
#define BASEFONT K8('b', 'a', 's', 'e', 'f', 'o', 'n', 't')
#define BGSOUND K7('b', 'g', 's', 'o', 'u', 'n', 'd')
#define BODY K4('b', 'o', 'd', 'y')
#define BR K2('b', 'r')
#define CHARSET K7('c', 'h', 'a', 'r', 's', 'e', 't')
#define FOOTER K6('f', 'o', 'o', 't', 'e', 'r')
#define HEAD K4('h', 'e', 'a', 'd')
#define HEADER K6('h', 'e', 'a', 'd', 'e', 'r')
#define HREF K4('h', 'r', 'e', 'f')
#define HTML K4('h', 't', 'm', 'l')
#define IFRAME K6('i', 'f', 'r', 'a', 'm', 'e')
#define LINK K4('l', 'i', 'n', 'k')
#define MATH K4('m', 'a', 't', 'h')
#define META K4('m', 'e', 't', 'a')
#define NAME K4('n', 'a', 'm', 'e')
#define NAV K3('n', 'a', 'v')
#define NOEMBED K7('n', 'o', 'e', 'm', 'b', 'e', 'd')
#define NOFRAMES K8('n', 'o', 'f', 'r', 'a', 'm', 'e', 's')
#define NOSCRIPT K8('n', 'o', 's', 'c', 'r', 'i', 'p', 't')
#define REL K3('r', 'e', 'l')
#define SCRIPT K6('s', 'c', 'r', 'i', 'p', 't')
#define STYLE K5('s', 't', 'y', 'l', 'e')
#define SVG K3('s', 'v', 'g')
#define TEMPLATE K8('t', 'e', 'm', 'p', 'l', 'a', 't', 'e')
#define TEXTAREA K8('t', 'e', 'x', 't', 'a', 'r', 'e', 'a')
#define TITLE K5('t', 'i', 't', 'l', 'e')
#define XMP K3('x', 'm', 'p')

enum { LATE = 1000, AT_ONCE = 4096, FIRST_ROOM = 64, MOST_WANTED = 64, SEEN_BITS = 8, SEEN = 1 << SEEN_BITS, MOST_WORDS = 16 };
enum place { IN_HEAD, IN_BODY, IN_NOSCRIPT, IN_FOREIGN, PLACES };

typedef struct {
    const char *at;
    Py_ssize_t size;
} Span;

typedef struct {
    char *bytes;
    Py_ssize_t size;
} Text;

typedef struct {
    Key key;
    Py_ssize_t size;
    PyObject *name;
} Wanted;

typedef struct {
    int count;
    Span word[MOST_WORDS];
} Words;

/* How text is made of bytes; what it names is borrowed. */
typedef struct {
    const char *errors;
    PyObject *unescaped;
} Decoding;

/* The hrefs of plain links, of which texts are made only when the base is known. */
typedef struct {
    Span *all;
    Py_ssize_t count, room;
    Decoding how;
    PyObject *source; /* whose bytes they are */
} Plain;

typedef struct {
    const char *end; /* of the page */
    Decoding how;
    PyObject *take, *places; /* borrowed */
    PyObject *elements;      /* not yet handed over */
    Plain *plain;
    Py_ssize_t told; /* of how many plain links the elements tell */
    PyObject *title;
    Text main, aside; /* in blocks: the main one masked, and no other */
    Py_ssize_t most_text;
    Wanted wanted[MOST_WANTED];
    int wanted_count, wants_a, in_blocks;
    uint32_t pairs[2][32]; /* of the first two letters of the names that matter; some others may be among them */
    uint32_t initials[2][KEY_BYTES + 1]; /* of the names that matter, in start and in end tags, by their length */
    Words relations, names, pragmas; /* of <link rel>, <meta name>, <meta http-equiv> that are heard; none: all are */
    Span seen[SEEN];                     /* plain references met before */
    int in_head, noscript, head_is_open;
    Py_ssize_t templates, foreign, asides, head_end, late;
} Reader;

/* One token that begins with <. */
typedef struct {
    Key key;     /* 0: no tag, or one whose name decides nothing where it stands */
    int is_tag;  /* a tag that ends, and no plaintext */
    int is_end;  /* </...> */
    int matters; /* its name may be one that is looked for */
    int has_rel, has_href;
    Span attributes; /* as written, up to the > */
    Span content;    /* of an element that holds text only */
    Span href, rel;  /* of an <a> */
    const char *next;
} Token;

static inline Key key_of(const char *at, Py_ssize_t size, const char *end) {
    Key key = 0;
    if (size > KEY_BYTES) return 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - at >= KEY_BYTES && size > 0) {
        /* A byte with this bit set is a letter only if it was that letter: keys of names, all letters, stay exact. */
        memcpy(&key, at, KEY_BYTES);
        return (key | UINT64_C(0x2020202020202020)) & (~UINT64_C(0) >> (8 * (KEY_BYTES - size)));
    }
#endif
    (void)end;
    for (Py_ssize_t i = 0; i < size; i++) key |= (Key)(unsigned char)lower(at[i]) << (8 * i);
    return key;
}

static inline const char *past(const char *at, const char *end, int kinds) {
    while (at < end && is(*at, kinds)) at++;
    return at;
}

/* Where a name ends that began before `at`. */
static inline const char *name_end(const char *at, const char *end, int kinds) {
#ifdef __SSE2__
    if (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)at), space = _mm_set1_epi8(' ');
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('>')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/')));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes)); /* control characters too */
        if (kinds & EQUALS) stop = _mm_or_si128(stop, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
        int stops = _mm_movemask_epi8(stop);
        at += stops ? __builtin_ctz((unsigned)stops) : 16;
    }
#endif
    while (at < end && !is(*at, kinds)) at++;
    return at;
}

/* Where a byte stands: mostly within the next sixteen, and then a call would cost more than the looking. */
static inline const char *find(const char *at, const char *end, char byte) {
#ifdef __SSE2__
    if (end - at >= 16) {
        int hits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8(byte)));
        if (hits) return at + __builtin_ctz((unsigned)hits);
        at += 16;
    }
#endif
    return at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
}

static int starts(const char *at, const char *end, const char *lower_case, Py_ssize_t size) {
    if (end - at < size) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (lower(at[i]) != lower_case[i]) return 0;
    return 1;
}

/* Whether a name stands at `at` and ends there. */
static int is_named(const char *at, const char *end, const char *name, Py_ssize_t size) {
    return end - at > size && is(at[size], WHITE | SLASH | CLOSE) && starts(at, end, name, size);
}

/* Read one attribute (13.2.5.32 ff.). 1: one was read; 0: `at` is at the >; -1: the page ends before the tag does. */
static inline int next_attribute(const char **at, const char *end, Span *name, Span *value) {
    const char *p = past(*at, end, WHITE | SLASH);
    if (p == end) return -1;
    if (*p == '>') {
        *at = p;
        return 0;
    }
    name->at = p;
    p = name_end(p + 1, end, WHITE | SLASH | CLOSE | EQUALS);
    name->size = p - name->at;
    value->at = p;
    value->size = 0;
    const char *q = past(p, end, WHITE);
    if (q < end && *q == '=') {
        p = past(q + 1, end, WHITE);
        if (p == end) return -1;
        if (*p == '"' || *p == '\'') {
            value->at = p + 1;
            p = find(p + 1, end, *p);
            if (!p) return -1;
            value->size = p++ - value->at;
        } else {
            value->at = p;
            while (p < end && !is(*p, WHITE | CLOSE)) p++;
            value->size = p - value->at;
        }
    }
    *at = p;
    return 1;
}

/* Where a comment ends whose <!-- ends at `at`. */
static const char *comment_end(const char *at, const char *end) {
    if (end - at >= 1 && at[0] == '>') return at + 1;
    if (end - at >= 2 && at[0] == '-' && at[1] == '>') return at + 2;
    for (; (at = find(at, end, '-')); at++) {
        if (end - at >= 3 && at[1] == '-' && at[2] == '>') return at + 3;
        if (end - at >= 4 && at[1] == '-' && at[2] == '!' && at[3] == '>') return at + 4;
    }
    return end;
}

/* Where the content of an element that holds text only ends: at its end tag or with the page. */
static const char *text_end(const char *at, const char *end, const char *name, Py_ssize_t size) {
    for (; (at = find(at, end, '<')); at++)
        if (end - at > 1 && at[1] == '/' && is_named(at + 2, end, name, size)) return at;
    return end;
}

/* The same of a script, in which <!-- opens a section where a <script> needs a </script> (13.2.5.15 ff.). */
static const char *script_end(const char *at, const char *end) {
    enum { PLAIN, ESCAPED, TWICE } state = PLAIN;
    const Py_ssize_t size = 6;
    while (at < end) {
        if (state == PLAIN) {
            at = find(at, end, '<');
            if (!at) return end;
        }
        if (*at == '<') {
            if (end - at > 1 && at[1] == '/' && is_named(at + 2, end, "script", size)) {
                if (state != TWICE) return at;
                state = ESCAPED;
                at += 2 + size;
            } else if (state == ESCAPED && is_named(at + 1, end, "script", size)) {
                state = TWICE;
                at += 1 + size;
            } else if (state == PLAIN && starts(at, end, "<!--", 4)) {
                at += 4;
                if (end - at >= 1 && at[0] == '>')
                    at += 1;
                else if (end - at >= 2 && at[0] == '-' && at[1] == '>')
                    at += 2;
                else
                    state = ESCAPED;
            } else {
                at++;
            }
        } else if (*at == '-' && end - at >= 3 && at[1] == '-' && at[2] == '>') {
            state = PLAIN;
            at += 3;
        } else {
            at++;
        }
    }
    return end;
}

static const char *content_end(Key key, const char *at, const char *end) {
    switch (key) {
    case SCRIPT: return script_end(at, end);
    case STYLE: return text_end(at, end, "style", 5);
    case TITLE: return text_end(at, end, "title", 5);
    case TEXTAREA: return text_end(at, end, "textarea", 8);
    case XMP: return text_end(at, end, "xmp", 3);
    case IFRAME: return text_end(at, end, "iframe", 6);
    case NOEMBED: return text_end(at, end, "noembed", 7);
    case NOFRAMES: return text_end(at, end, "noframes", 8);
    default: return NULL;
    }
}

/* Read the token that begins with the < at `at`; what follows the < is a letter, /, ! or ?. */
static inline void read_token(const Reader *r, const char *at, Token *token) {
    const char *const end = r->end;
    const char *name = at + 1, *p;
    token->key = 0;
    token->is_tag = token->is_end = token->matters = 0;
    token->next = end;
    if (*name == '/' && end - name > 1 && is(name[1], LETTER)) {
        token->is_end = 1;
        name++;
    }
    if (!is(*name, LETTER)) {
        if (end - name >= 3 && name[0] == '!' && name[1] == '-' && name[2] == '-')
            token->next = comment_end(name + 3, end);
        else if ((p = find(name + 1, end, '>')))
            token->next = p + 1;
        return;
    }
    p = name_end(name + 1, end, WHITE | SLASH | CLOSE);
    const Py_ssize_t size = p - name;
    int matters = size <= KEY_BYTES && (r->initials[token->is_end][size] >> ((*name - 'a') & 31) & 1);
    Key key = matters || r->in_head ? key_of(name, size, end) : 0;
    Span one, value;
    int left;
    token->attributes.at = p;
    if (matters && key == A && r->wants_a) {
        token->has_href = token->has_rel = 0;
        while ((left = next_attribute(&p, end, &one, &value)) > 0) {
            Key which = key_of(one.at, one.size, end);
            if (which == HREF && !token->has_href) {
                token->has_href = 1;
                token->href = value;
            } else if (which == REL && !token->has_rel) {
                token->has_rel = 1;
                token->rel = value;
            }
        }
    } else if (p < end && *p == '>') {
        left = 0;
    } else {
        while ((left = next_attribute(&p, end, &one, &value)) > 0) {}
    }
    if (left < 0) return; /* a tag that does not end: the tokenizer drops it */
    token->attributes.size = p - token->attributes.at;
    if (size == 9 && !token->is_end && starts(name, end, "plaintext", 9)) return;
    token->is_tag = 1;
    token->matters = matters;
    token->key = key;
    token->next = p + 1;
    if (matters && !token->is_end && (p = content_end(key, token->next, end))) {
        token->content.at = token->next;
        token->content.size = p - token->next;
        token->next = p;
    }
}

static PyObject *decoded(Decoding how, const char *at, Py_ssize_t size) {
    return PyUnicode_DecodeUTF8(at, size, how.errors);
}

static int make_room(const Reader *r, Text *text) {
    if (!text->bytes && !(text->bytes = PyMem_Malloc((size_t)r->most_text + 16))) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Mask bytes: without the digits of ASCII and HTML's white space, which change without saying anything (R-9.3). */
static Py_ssize_t mask(char *const made, const char *from, const char *end) {
    char *to = made;
    for (; from < end; from++) {
        *to = *from;
        to += !is(*from, WHITE | DIGIT); /* without a branch, which would be foreseen wrongly at each word */
    }
    return to - made;
}

static inline int keep(Reader *r, Text *text, const char *at, const char *end) {
    if (at == end) return 0;
    if (make_room(r, text) < 0) return -1;
    if (r->in_blocks) {
        if (text == &r->main) text->size += mask(text->bytes + text->size, at, end);
        return 0;
    }
    /* Each piece is parted from the next by a token of at least two bytes, so the spaces fit. */
    if (end - at <= 16 && r->end - at >= 16)
        memcpy(text->bytes + text->size, at, 16); /* one move; what is too much is written over */
    else
        memcpy(text->bytes + text->size, at, (size_t)(end - at));
    text->size += end - at;
    text->bytes[text->size++] = ' ';
    return 0;
}

/* Read what follows an &, if it is a usual reference to a character of ASCII, and return its length, else 0. */
static Py_ssize_t usual_reference(const char *at, const char *end, char *character) {
    static const struct {
        char name[6];
        char character;
    } USUAL[] = {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}};
    if (at < end && *at == '#') {
        int number = 0;
        const char *p = at + 1;
        while (p < end && p - at <= 3 && is(*p, DIGIT)) number = number * 10 + (*p++ - '0');
        *character = (char)number;
        return p < end && *p == ';' && number > 0 && number < 0x80 ? p + 1 - at : 0;
    }
    for (size_t i = 0; i < sizeof USUAL / sizeof *USUAL; i++) {
        Py_ssize_t size = (Py_ssize_t)strlen(USUAL[i].name);
        *character = USUAL[i].character;
        if (end - at >= size && memcmp(at, USUAL[i].name, (size_t)size) == 0) return size;
    }
    return 0;
}

/* Replace the references of an attribute's value: the usual ones here, all others by markup.unescaped. */
static PyObject *value_of(Decoding how, Span value) {
    const char *end = value.at + value.size, *p = value.at, *amp = find(p, end, '&');
    if (!amp) return decoded(how, value.at, value.size);
    char *made = PyMem_Malloc((size_t)value.size), *to = made;
    if (!made) return PyErr_NoMemory();
    PyObject *found = NULL;
    for (; amp; amp = find(p, end, '&')) {
        memcpy(to, p, (size_t)(amp + 1 - p));
        to += amp + 1 - p;
        p = amp + 1;
        char character;
        Py_ssize_t size = usual_reference(p, end, &character);
        if (size) {
            to[-1] = character;
            p += size;
        } else if (p < end && (*p == '#' || is(*p, LETTER))) {
            const char *after = past(p, end, LETTER | DIGIT);
            if (*p != '#' && after < end && *after == '=') continue; /* &copy=1 is a parameter (13.2.5.73) */
            PyObject *written = decoded(how, value.at, value.size);
            if (written) {
                found = PyObject_CallFunctionObjArgs(how.unescaped, written, NULL);
                Py_DECREF(written);
            }
            goto done;
        }
    }
    memcpy(to, p, (size_t)(end - p));
    to += end - p;
    found = decoded(how, made, to - made);
done:
    PyMem_Free(made);
    return found;
}

static PyObject *attributes_of(const Reader *r, Span written) {
    PyObject *found = PyDict_New();
    const char *at = written.at, *end = written.at + written.size + 1; /* the > is there */
    Span one, value;
    while (found && next_attribute(&at, end, &one, &value) > 0) {
        PyObject *name = NULL, *text = NULL;
        char *low = PyMem_Malloc((size_t)one.size);
        if (low) {
            for (Py_ssize_t i = 0; i < one.size; i++) low[i] = lower(one.at[i]);
            name = decoded(r->how, low, one.size);
            PyMem_Free(low);
        } else {
            PyErr_NoMemory();
        }
        int known = name ? PyDict_Contains(found, name) : -1;
        if (known == 0 && (text = value_of(r->how, value))) known = PyDict_SetItem(found, name, text);
        else if (known == 0) known = -1;
        Py_XDECREF(text);
        Py_XDECREF(name);
        if (known < 0) Py_CLEAR(found);
    }
    return found;
}

static enum place place_of(const Reader *r) {
    if (r->noscript) return IN_NOSCRIPT;
    if (r->foreign) return IN_FOREIGN;
    return r->in_head ? IN_HEAD : IN_BODY;
}

static int append(Reader *r, PyObject *element) {
    if (!element) return -1;
    int failed = PyList_Append(r->elements, element);
    Py_DECREF(element); /* the list holds it */
    return failed;
}

/* Tell how many plain links stand before what comes next. */
static int tell_plain(Reader *r) {
    if (r->told == r->plain->count) return 0;
    r->told = r->plain->count;
    return append(r, PyLong_FromSsize_t(r->told));
}

/* Hand over what was found, if nothing of it can still turn out to stand in the head. */
static int hand_over(Reader *r) {
    if (!r->take) return 0;
    if (tell_plain(r) < 0) return -1;
    PyObject *elements = r->elements;
    if (!(r->elements = PyList_New(0))) {
        r->elements = elements;
        return -1;
    }
    PyObject *none = PyObject_CallFunctionObjArgs(r->take, elements, NULL);
    Py_DECREF(elements);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

static int add_element(Reader *r, PyObject *name, Span written) {
    PyObject *found = tell_plain(r) < 0 ? NULL : attributes_of(r, written);
    if (!found) return -1;
    PyObject *place = PyTuple_GetItem(r->places, place_of(r));
    int failed = place ? append(r, PyTuple_Pack(3, name, found, place)) : -1;
    Py_DECREF(found);
    return failed;
}

/* Note the href of a plain link without its fragment; one that was met before need not be. */
static int note_plain(Reader *r, Span href) {
    const char *end = href.at + href.size, *cut = find(href.at, end, '#');
    /* "a #b" keeps its space when parsed; the # of a reference cuts nothing yet. */
    if (cut && (cut == href.at || ((unsigned char)cut[-1] > ' ' && !find(href.at, cut, '&')))) href.size = cut - href.at;
    uint64_t first = 0, last = 0;
    const size_t some = href.size < 8 ? (size_t)href.size : 8;
    memcpy(&first, href.at, some);
    memcpy(&last, href.at + href.size - some, some);
    const uint64_t mixed = (first ^ last * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)href.size) * UINT64_C(0xD6E8FEB86659FD93);
    /* One place for each value, so that chosen references cost no more than others. */
    Span *seen = &r->seen[mixed >> (64 - SEEN_BITS)];
    if (seen->at && seen->size == href.size && memcmp(seen->at, href.at, (size_t)href.size) == 0) return 0;
    *seen = href;
    Plain *plain = r->plain;
    if (plain->count == plain->room) {
        const Py_ssize_t room = plain->room ? 2 * plain->room : FIRST_ROOM;
        Span *all = PyMem_Realloc(plain->all, (size_t)room * sizeof *all);
        if (!all) {
            PyErr_NoMemory();
            return -1;
        }
        plain->all = all;
        plain->room = room;
    }
    plain->all[plain->count++] = href;
    return 0;
}

/* Whether a rel may say nofollow; what is not ASCII is left to gather.py. */
static int may_say_nofollow(Span rel) {
    for (Py_ssize_t i = 0; i < rel.size; i++) {
        if ((unsigned char)rel.at[i] >= 0x80 || rel.at[i] == '&') return 1;
        if (starts(rel.at + i, rel.at + rel.size, "nofollow", 8)) return 1;
    }
    return 0;
}

static int take_anchor(Reader *r, PyObject *name, const Token *token) {
    int foreign = place_of(r) == IN_FOREIGN;
    if ((token->has_rel && may_say_nofollow(token->rel)) || (foreign && !token->has_href))
        return add_element(r, name, token->attributes);
    return token->has_href ? note_plain(r, token->href) : 0;
}

/* Count as head what the author wrote there after an element that ends it. */
static int end_written_head(Reader *r) {
    if (r->templates || !r->head_is_open) return 0;
    r->head_is_open = 0;
    if (r->in_head) return 0;
    PyObject *head = PyTuple_GetItem(r->places, IN_HEAD), *body = PyTuple_GetItem(r->places, IN_BODY);
    if (!head || !body) return -1;
    Py_ssize_t size = PyList_Size(r->elements);
    for (Py_ssize_t i = r->head_end; i < size; i++) {
        PyObject *one = PyList_GetItem(r->elements, i);
        if (!one) return -1;
        if (!PyTuple_Check(one) || PyTuple_GetItem(one, 2) != body) continue;
        PyObject *moved = PyTuple_Pack(3, PyTuple_GetItem(one, 0), PyTuple_GetItem(one, 1), head);
        if (!moved || PyList_SetItem(r->elements, i, moved) < 0) return -1;
    }
    return 0;
}

/* Enter or leave an element that changes the meaning of those inside; 0: it is none of them. */
static int frame(Reader *r, const Token *token) {
    Py_ssize_t step = token->is_end ? -1 : 1, *depth;
    switch (token->key) {
    case HEAD: if (!token->is_end) return 0; return end_written_head(r) < 0 ? -1 : 1;
    case BODY: if (token->is_end) return 0; return end_written_head(r) < 0 ? -1 : 1;
    case NOSCRIPT: r->noscript = step > 0; return 1;
    case TEMPLATE: depth = &r->templates; break;
    case SVG:
    case MATH:
        if (step > 0 && token->attributes.size && token->attributes.at[token->attributes.size - 1] == '/') return 1;
        depth = &r->foreign;
        break;
    case HEADER:
    case NAV:
    case FOOTER: depth = &r->asides; break;
    default: return 0;
    }
    if (*depth + step >= 0) *depth += step;
    return 1;
}

static PyObject *wanted_name(const Reader *r, const Token *token) {
    if (token->is_end) return NULL;
    for (int i = 0; i < r->wanted_count; i++)
        if (r->wanted[i].key == token->key) return r->wanted[i].name;
    return NULL;
}

/* Whether a value is of printable ASCII without references, so that it reads the same here and in gather.py. */
static int is_simple(Span value) {
    for (Py_ssize_t i = 0; i < value.size; i++)
        if (value.at[i] < ' ' || value.at[i] > '~' || value.at[i] == '&') return 0;
    return 1;
}

/* Whether one of the words of a simple value is among those that the caller listens for. */
static int has_word(const Words *words, Span value) {
    const char *at = value.at, *end = value.at + value.size;
    while ((at = past(at, end, WHITE)) < end) {
        const char *start = at;
        while (at < end && *at != ' ') at++;
        for (int i = 0; i < words->count; i++)
            if (words->word[i].size == at - start && starts(start, at, words->word[i].at, at - start)) return 1;
    }
    return 0;
}

/* Whether a link or meta element surely tells nothing: a rel or name that nobody listens for, no pragma. */
static int tells_nothing(const Reader *r, const Token *token) {
    const char *at = token->attributes.at, *end = token->attributes.at + token->attributes.size + 1;
    Span one, value, rel = {NULL, 0};
    int has_href = 0;
    while (next_attribute(&at, end, &one, &value) > 0) {
        const Key key = key_of(one.at, one.size, r->end);
        if (token->key == META && (key == CHARSET || (one.size == 10 && starts(one.at, end, "http-equiv", 10)))) {
            if (key == CHARSET ? r->pragmas.count > 1 : !is_simple(value) || has_word(&r->pragmas, value)) return 0;
        } else if (key == (token->key == META ? NAME : REL) && !rel.at) {
            rel = value;
        } else if (key == HREF) {
            has_href = 1;
        }
    }
    if (!rel.at || (token->key == LINK && !has_href)) return 1;
    return is_simple(rel) && !has_word(token->key == META ? &r->names : &r->relations, rel);
}

static int take(Reader *r, const Token *token) {
    PyObject *name;
    int framed = frame(r, token);
    if (framed) return framed < 0 ? -1 : 0;
    if (r->templates) return 0;
    if ((name = wanted_name(r, token))) {
        if (!r->in_head && ++r->late > LATE) r->head_is_open = 0;
        if (r->relations.count && (token->key == LINK || token->key == META) && tells_nothing(r, token)) return 0;
        if ((token->key == A ? take_anchor(r, name, token) : add_element(r, name, token->attributes)) < 0) return -1;
        if (PyList_Size(r->elements) >= AT_ONCE && (r->in_head || !r->head_is_open)) return hand_over(r);
    } else if (token->key == TITLE && !token->is_end && !r->title && place_of(r) <= IN_BODY) {
        if (!(r->title = decoded(r->how, token->content.at, token->content.size))) return -1;
    }
    return 0;
}

static int is_of_head(const Token *token) {
    if (token->is_end) return token->key != BODY && token->key != HTML && token->key != BR;
    switch (token->key) {
    case HTML: case HEAD: case BASE: case BASEFONT: case BGSOUND: case LINK: case META: case NOSCRIPT: case TEMPLATE:
    case SCRIPT: case STYLE: case TITLE: case NOFRAMES: return 1;
    default: return 0;
    }
}

/* Take the text before a token, and say whether the token stands in the head. */
static int take_text(Reader *r, const Token *token, const char *at, const char *end) {
    if (r->in_head) {
        if (r->templates || r->noscript) return r->noscript ? keep(r, &r->main, at, end) : 0;
        if (past(at, end, WHITE) == end && (!token->is_tag || is_of_head(token))) return 0;
        r->in_head = 0;
        r->head_end = PyList_Size(r->elements);
    }
    return keep(r, r->asides ? &r->aside : &r->main, at, end);
}

/* Note the first two letters of a name; what may follow one of a single letter is read as a letter too. */
static void note_pair(Reader *r, Key name, int in_ends) {
    const uint32_t after_one = 1 << (' ' & 31) | 1 << '\t' | 1 << '\n' | 1 << '\f' | 1 << '\r' | 1 << ('/' & 31) | 1 << ('>' & 31);
    const uint32_t seconds = name >> 8 ? (uint32_t)1 << (name >> 8 & 31) : after_one;
    r->pairs[0][name & 31] |= seconds;
    if (in_ends) r->pairs[1][name & 31] |= seconds;
}

static void note_initials(Reader *r) {
    static const char *const FRAMING[] = {"head", "template", "noscript", "svg", "math", "header", "nav", "footer"};
    static const char *const STARTS[] = {"body",  "script", "style",   "title",   "textarea",
                                         "xmp",   "iframe", "noembed", "noframes"};
    for (size_t i = 0; i < sizeof FRAMING / sizeof *FRAMING; i++) {
        const uint32_t bit = (uint32_t)1 << (FRAMING[i][0] - 'a');
        r->initials[0][strlen(FRAMING[i])] |= bit;
        r->initials[1][strlen(FRAMING[i])] |= bit;
        note_pair(r, K2(FRAMING[i][0], FRAMING[i][1]), 1);
    }
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++) {
        r->initials[0][strlen(STARTS[i])] |= (uint32_t)1 << (STARTS[i][0] - 'a');
        note_pair(r, K2(STARTS[i][0], STARTS[i][1]), 0);
    }
    for (int i = 0; i < r->wanted_count; i++) {
        r->initials[0][r->wanted[i].size] |= (uint32_t)1 << ((r->wanted[i].key & 0xFF) - 'a');
        note_pair(r, r->wanted[i].key, 0);
    }
    note_pair(r, K2('p', 'l'), 0); /* plaintext */
}

#ifdef HAS_BLOCKS
/* For each set of bytes of eight: those of the set, moved together; one number a byte, the first lowest. */
#define BIT(set, i) ((set) >> (i) & 1)
#define BITS(set) (BIT(set, 0) + BIT(set, 1) + BIT(set, 2) + BIT(set, 3) + BIT(set, 4) + BIT(set, 5) + BIT(set, 6))
#define MOVED(set, i) (BIT(set, i) ? (uint64_t)(i) << (8 * BITS((set) & ((1 << (i)) - 1))) : 0)
#define SET(n) (MOVED(n, 0) | MOVED(n, 1) | MOVED(n, 2) | MOVED(n, 3) | MOVED(n, 4) | MOVED(n, 5) | MOVED(n, 6) | MOVED(n, 7))
#define SETS4(n) SET(n), SET(n + 1), SET(n + 2), SET(n + 3)
#define SETS16(n) SETS4(n), SETS4(n + 4), SETS4(n + 8), SETS4(n + 12)
#define SETS64(n) SETS16(n), SETS16(n + 16), SETS16(n + 32), SETS16(n + 48)
static const uint64_t TOGETHER[256] = {SETS64(0), SETS64(64), SETS64(128), SETS64(192)};

enum { BLOCK = 64 };
typedef uint64_t Bits; /* one of each byte of a block, the first lowest */

static inline Bits below(int i) { return i < BLOCK ? ((Bits)1 << i) - 1 : ~(Bits)0; }

/* Bits that are set from each odd one of these up to the next. */
static inline Bits between(Bits bits) {
    for (int i = 1; i < BLOCK; i *= 2) bits ^= bits << i;
    return bits;
}

/* Whether the tag at a < may matter, by the first letters of its name; -1 if what follows is no name. */
static inline int may_matter(const Reader *r, const char *at) {
    const int is_end = at[1] == '/';
    const char *const name = at + 1 + is_end;
    return is(*name, LETTER) ? (int)(r->pairs[is_end][*name & 31] >> (name[1] & 31) & 1) : -1;
}

#define IN_BLOCK __attribute__((target("avx2,bmi,popcnt")))

IN_BLOCK static inline Bits where(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (Bits)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

IN_BLOCK static inline Bits where_is(__m256i low, __m256i high, char byte) {
    const __m256i wanted = _mm256_set1_epi8(byte);
    return where(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}

/* Take the tags of a block that begins outside of one, as long as their spelling is the usual one and they do not change what
   text is kept, and keep the text before the first that is left to read_token; how many bytes that is, -1 if it failed. */
IN_BLOCK static inline int take_usual(Reader *r, const char *at, int *is_stopped) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)at), high = _mm256_loadu_si256((const __m256i *)(at + 32));
    const __m256i spaces = _mm256_setr_epi8(' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', -1, '\f', '\r', -1, -1, ' ', -1, -1,
                                            -1, -1, -1, -1, -1, -1, '\t', '\n', -1, '\f', '\r', -1, -1);
    const Bits open = where_is(low, high, '<'), close = where_is(low, high, '>'), quote = where_is(low, high, '"');
    const Bits equals = where_is(low, high, '='), apostrophe = where_is(low, high, '\''), slash = where_is(low, high, '/');
    const Bits white = where(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(spaces, low), low),
                             _mm256_cmpeq_epi8(_mm256_shuffle_epi8(spaces, high), high));
    /* Tags, if each < is followed by its >; values, if each = is followed by two quotes. */
    const Bits tags = between(open | close), quotes = quote & tags, values = between(quotes), outside = tags & ~values;
    /* A name begins after white space; the sum carries each such beginning over to its end. */
    const Bits plain = ~(white | slash | open | close | equals | quote | apostrophe);
    const Bits names = plain & ~(plain + (plain & white << 1)), given = equals & outside;
    const Bits unusual = (open & ~tags) | (close & tags) | ((open | close) & values) | (apostrophe & outside) |
                         (given & ~(names << 1)) | (given << 1 ^ (quotes & values));
    int size = unusual ? __builtin_ctzll(unusual) : BLOCK;
    *is_stopped = unusual != 0;
    if (size && tags >> (size - 1) & 1) {
        size = BLOCK - 1 - __builtin_clzll(open & below(size));
        if (may_matter(r, at + size)) *is_stopped = 1;
    }
    for (Bits left = open & below(size); left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        const int matters = may_matter(r, at + i);
        if (!matters) continue;
        Token token;
        if (matters > 0) read_token(r, at + i, &token);
        if (matters < 0 || !token.is_tag || token.next != at + i + __builtin_ctzll(close >> i) + 1 ||
            token.key == HEADER || token.key == NAV || token.key == FOOTER) {
            size = i;
            *is_stopped = 1;
            break;
        }
        if (token.matters && take(r, &token) < 0) return -1;
    }
    if (r->asides) return size;
    const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
    const __m256i number = _mm256_sub_epi8(low, zero), numbers = _mm256_sub_epi8(high, zero);
    const Bits digits = where(_mm256_cmpeq_epi8(_mm256_min_epu8(number, nine), number),
                              _mm256_cmpeq_epi8(_mm256_min_epu8(numbers, nine), numbers));
    Bits kept = ~(tags | close | white | digits) & below(size);
    char *to = r->main.bytes + r->main.size;
    for (int i = 0; i < BLOCK; i += 8, kept >>= 8) {
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(at + i));
        const __m128i moves = _mm_loadl_epi64((const __m128i *)&TOGETHER[kept & 0xFF]);
        _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(bytes, moves));
        to += __builtin_popcountll(kept & 0xFF);
    }
    r->main.size = to - r->main.bytes;
    return size;
}

/* Take what is usual from here on, and return where the first token begins that is not; NULL if it failed. */
IN_BLOCK static const char *past_usual(Reader *r, const char *at) {
    int is_stopped = 0, size = 1;
    while (!is_stopped && size > 0 && r->end - at > BLOCK + 2) { /* may_matter may look past it */
        size = take_usual(r, at, &is_stopped);
        at += size;
    }
    return size < 0 ? NULL : at;
}

static int can_read_blocks(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
#else
static const char *past_usual(Reader *r, const char *at) { return (void)r, at; }
static int can_read_blocks(void) { return 0; }
#endif

static int read_page(Reader *r, const char *at) {
    const char *text = at;
    Token token;
    memset(&token, 0, sizeof token);
    note_initials(r);
    if (r->in_blocks && make_room(r, &r->main) < 0) return -1;
    while ((at = find(at, r->end, '<'))) {
        if (r->end - at < 2 || !is(at[1], LETTER | SLASH | MARK)) {
            at++;
            continue;
        }
        read_token(r, at, &token);
        if (take_text(r, &token, text, at) < 0) return -1;
        if (token.matters && take(r, &token) < 0) return -1;
        text = at = token.next;
        if (r->in_blocks && !r->in_head && !(text = at = past_usual(r, at))) return -1;
    }
    if (keep(r, r->asides ? &r->aside : &r->main, text, r->end) < 0) return -1;
    return hand_over(r);
}

/* Whether bytes are well-formed UTF-8 (Unicode 3.9, table 3-7). */
static int is_utf8(const unsigned char *at, const unsigned char *end) {
    while (at < end) {
#ifdef __SSE2__
        if (end - at >= 32 && *at < 0x80) {
            const __m128i *some = (const __m128i *)at;
            const __m128i first = _mm_loadu_si128(some), second = _mm_loadu_si128(some + 1);
            const unsigned beyond = (unsigned)_mm_movemask_epi8(first) | (unsigned)_mm_movemask_epi8(second) << 16;
            at += beyond ? __builtin_ctz(beyond) : 32;
            if (!beyond) continue;
        }
#endif
        unsigned char lead = *at++, least = 0x80, most = 0xBF;
        int more;
        if (lead < 0x80) continue;
        if (lead < 0xC2 || lead > 0xF4) return 0;
        more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        if (lead == 0xE0) least = 0xA0;
        if (lead == 0xED) most = 0x9F;
        if (lead == 0xF0) least = 0x90;
        if (lead == 0xF4) most = 0x8F;
        if (end - at < more || *at < least || *at > most) return 0;
        for (at++; --more; at++)
            if ((*at & 0xC0) != 0x80) return 0;
    }
    return 1;
}

/* The text as UTF-8, with U+FFFD for what is none. */
static PyObject *whole_text(const Reader *r, const Text *text) {
    const char *bytes = text->bytes ? text->bytes : "";
    if (is_utf8((const unsigned char *)bytes, (const unsigned char *)bytes + text->size))
        return PyBytes_FromStringAndSize(bytes, text->size);
    PyObject *string = decoded(r->how, bytes, text->size);
    PyObject *whole = string ? PyUnicode_AsEncodedString(string, "utf-8", "replace") : NULL;
    Py_XDECREF(string);
    return whole;
}

static PyObject *masked(const char *bytes, Py_ssize_t size) {
    char *made = PyMem_Malloc((size_t)size + 1);
    if (!made) return PyErr_NoMemory();
    PyObject *kept = PyBytes_FromStringAndSize(made, mask(made, bytes, bytes + size));
    PyMem_Free(made);
    return kept;
}

static int note_wanted(Reader *r, PyObject *wanted) {
    PyObject *each = PyObject_GetIter(wanted), *name;
    if (!each) return -1;
    while ((name = PyIter_Next(each))) {
        Py_ssize_t size = 0;
        const char *text = PyUnicode_AsUTF8AndSize(name, &size);
        int fits = size > 0 && size <= KEY_BYTES && r->wanted_count < MOST_WANTED;
        for (Py_ssize_t i = 0; text && fits && i < size; i++) fits = text[i] >= 'a' && text[i] <= 'z';
        if (text && !fits) {
            PyErr_Format(PyExc_ValueError, "wanted are up to %d names of 1 to %d letters, not %R", MOST_WANTED,
                         KEY_BYTES, name);
            text = NULL;
        }
        if (!text) {
            Py_DECREF(name);
            break;
        }
        r->wanted[r->wanted_count++] = (Wanted){key_of(text, size, text + size), size, name};
        if (size == 1 && *text == 'a') r->wants_a = 1;
    }
    Py_DECREF(each);
    return PyErr_Occurred() ? -1 : 0;
}

static int note_words(Words *words, PyObject *all) {
    const Py_ssize_t count = PyTuple_Size(all);
    if (count > MOST_WORDS) PyErr_Format(PyExc_ValueError, "at most %d words are listened for", MOST_WORDS);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *word = PyTuple_GetItem(all, i); /* the tuple holds it while the page is read */
        Span *to = &words->word[words->count++];
        to->at = word ? PyUnicode_AsUTF8AndSize(word, &to->size) : NULL;
    }
    return PyErr_Occurred() ? -1 : 0;
}

static void free_plain(Plain *plain) {
    Py_XDECREF(plain->source);
    Py_XDECREF(plain->how.unescaped);
    PyMem_Free(plain->all);
    PyMem_Free(plain);
}

#define PLAIN "purlieu.page._scan.plain"
static void free_capsule(PyObject *capsule) {
    Plain *plain = PyCapsule_GetPointer(capsule, PLAIN);
    if (plain) free_plain(plain);
}

/* The plain links for resolve; it takes them over. None if there are none. */
static PyObject *capsule_of(Reader *r, PyObject *source) {
    if (!r->plain->count) return Py_NewRef(Py_None);
    PyObject *capsule = PyCapsule_New(r->plain, PLAIN, free_capsule);
    if (!capsule) return NULL;
    r->plain->how = (Decoding){strcmp(r->how.errors, "replace") ? "surrogatepass" : "replace", Py_NewRef(r->how.unescaped)};
    r->plain->source = Py_NewRef(source);
    r->plain = NULL;
    return capsule;
}

/* Read the page once more, for nothing but its texts. */
static int read_texts(Reader *r, const char *source) {
    Reader again;
    memset(&again, 0, sizeof again);
    again.end = r->end;
    again.most_text = r->most_text;
    again.plain = r->plain; /* nothing is noted in it, since nothing is wanted */
    again.places = r->places;
    again.elements = r->elements;
    again.in_head = again.head_is_open = 1;
    again.title = Py_None;
    if (read_page(&again, source) < 0) {
        PyMem_Free(again.main.bytes);
        PyMem_Free(again.aside.bytes);
        return -1;
    }
    PyMem_Free(r->main.bytes);
    PyMem_Free(r->aside.bytes);
    r->main = again.main;
    r->aside = again.aside;
    return 0;
}

/* What was found of the page, the texts only if little is left of the main one when it is masked. */
static PyObject *made_of(Reader *r, PyObject *source, const char *bytes, Py_ssize_t most_short) {
    PyObject *made = NULL, *kept = NULL, *plain = NULL, *main_text = NULL, *aside_text = NULL;
    char *whole;
    Py_ssize_t size;
    if (r->in_blocks && r->main.size >= most_short) {
        if (!(kept = PyBytes_FromStringAndSize(r->main.bytes, r->main.size))) goto done;
        main_text = Py_NewRef(Py_None);
        aside_text = Py_NewRef(Py_None);
    } else {
        if (r->in_blocks && read_texts(r, bytes) < 0) goto done;
        if (!(main_text = whole_text(r, &r->main)) || PyBytes_AsStringAndSize(main_text, &whole, &size) < 0) goto done;
        if (!(kept = masked(whole, size)) || !(aside_text = whole_text(r, &r->aside))) goto done;
    }
    if ((plain = capsule_of(r, source)))
        made = PyTuple_Pack(5, r->title ? r->title : Py_None, kept, main_text, aside_text, plain);
done:
    Py_XDECREF(main_text);
    Py_XDECREF(aside_text);
    Py_XDECREF(kept);
    Py_XDECREF(plain);
    return made;
}

PyDoc_STRVAR(read_doc,
"read(source, errors, wanted, take, unescaped, places, heard, most_short)\n--\n\n"
"Return (title, masked main text, main, aside, plain links) of a page in UTF-8 without NUL and CDATA sections; see markup.read,\n"
"markup.Heard, scan.Scanned. The texts may be None if the masked one has most_short bytes or more.");

static PyObject *scan_read(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *source, *wanted, *relations, *names, *pragmas, *made = NULL;
    char *bytes;
    Py_ssize_t size, most_short;
    Reader r;
    memset(&r, 0, sizeof r);
    if (!PyArg_ParseTuple(arguments, "SsO!OOO!(O!O!O!)n:read", &source, &r.how.errors, &PyFrozenSet_Type, &wanted, &r.take,
                          &r.how.unescaped, &PyTuple_Type, &r.places, &PyTuple_Type, &relations, &PyTuple_Type, &names,
                          &PyTuple_Type, &pragmas, &most_short))
        return NULL;
    if (PyTuple_Size(r.places) != PLACES) return PyErr_Format(PyExc_ValueError, "there are %d places", PLACES);
    if (PyBytes_AsStringAndSize(source, &bytes, &size) < 0) return NULL;
    r.end = bytes + size;
    r.most_text = size + 1;
    r.in_head = r.head_is_open = 1;
    if (note_words(&r.relations, relations) < 0 || note_words(&r.names, names) < 0 ||
        note_words(&r.pragmas, pragmas) < 0)
        return NULL;
    if (!(r.plain = PyMem_Calloc(1, sizeof *r.plain))) return PyErr_NoMemory();
    /* What is no UTF-8 has to be mended before it is masked. */
    r.in_blocks = most_short <= size && can_read_blocks() && is_utf8((const unsigned char *)bytes, (const unsigned char *)r.end);
    if (note_wanted(&r, wanted) == 0 && (r.elements = PyList_New(0)) && read_page(&r, bytes) == 0)
        made = made_of(&r, source, bytes, most_short);
    if (r.plain) free_plain(r.plain);
    PyMem_Free(r.main.bytes);
    PyMem_Free(r.aside.bytes);
    Py_XDECREF(r.title);
    Py_XDECREF(r.elements);
    while (r.wanted_count) Py_DECREF(r.wanted[--r.wanted_count].name);
    return made;
}

PyDoc_STRVAR(is_plain_doc,
"is_plain(source)\n--\n\n"
"Say whether there is neither NUL nor the start of a CDATA section in the bytes; ten times faster than `in`.");

static PyObject *scan_is_plain(PyObject *Py_UNUSED(module), PyObject *source) {
    char *at;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(source, &at, &size) < 0) return NULL;
    const char *start = at, *end = at + size, *bracket = at;
    int is_plain = !find(at, end, 0);
    for (; is_plain && (bracket = find(bracket, end, '[')); bracket++)
        is_plain = bracket - start < 2 || bracket[-1] != '!' || bracket[-2] != '<' || end - bracket < 7 ||
                   memcmp(bracket, "[CDATA[", 7) != 0;
    return PyBool_FromLong(is_plain);
}

PyDoc_STRVAR(is_silent_doc,
"is_silent(body)\n--\n\n"
"Say whether the first bytes surely declare no encoding: neither a byte order mark nor XML nor the word charset.");

static PyObject *scan_is_silent(PyObject *Py_UNUSED(module), PyObject *body) {
    enum { PRESCAN = 1024 }; /* as in encoding.py */
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(body, &bytes, &size) < 0) return NULL;
    const char *at = bytes, *end = at + (size < PRESCAN ? size : PRESCAN);
    int is_silent = at == end || (*at > 0 && !(*at == '<' && end - at > 1 && (at[1] == '?' || at[1] == 0)));
#ifdef __SSE2__
    const __m128i small = _mm_set1_epi8(0x20), c = _mm_set1_epi8('c'), h = _mm_set1_epi8('h');
    for (; is_silent && end - at > 16; at += 16) {
        const __m128i one = _mm_or_si128(_mm_loadu_si128((const __m128i *)at), small);
        const __m128i next = _mm_or_si128(_mm_loadu_si128((const __m128i *)(at + 1)), small);
        int hits = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(one, c), _mm_cmpeq_epi8(next, h)));
        for (; hits; hits &= hits - 1) is_silent &= !starts(at + __builtin_ctz((unsigned)hits), end, "charset", 7);
    }
#endif
    for (; is_silent && at < end; at++) is_silent = !starts(at, end, "charset", 7);
    return PyBool_FromLong(is_silent);
}

/* -- references against a base, where the URL Standard leaves no doubt; all others are for url.Joiner ---------- */

/* Whether a host is an IPv4 address as it is serialised (3.6): four numbers up to 255 without a zero before them. */
static int is_address(const char *at, const char *end) {
    for (int parts = 1;; parts++) {
        const char *digits = at;
        int number = 0;
        while (at < end && at - digits < 3 && is(*at, DIGIT)) number = number * 10 + (*at++ - '0');
        if (at == digits || number > 255 || (*digits == '0' && at - digits > 1)) return 0;
        if (parts == 4) return at == end;
        if (at == end || *at++ != '.') return 0;
    }
}

/* Where the scheme, //, host and port of an http or https URL end, NULL if they may be written otherwise (4.5). */
static const char *origin_end(const char *at, const char *end) {
    const char *host, *label;
    int port = 0, usual;
    if (end - at > 7 && memcmp(at, "http://", 7) == 0) {
        at += 7;
        usual = 80;
    } else if (end - at > 8 && memcmp(at, "https://", 8) == 0) {
        at += 8;
        usual = 443;
    } else {
        return NULL;
    }
    for (host = at;; at++) {
        for (label = at; at < end && *at != '.' && is(*at, HOST); at++) {}
        /* No punycode, nothing that only some take for a name. */
        if (at == label || at - label > 63 || at - host > 253 || *label == '-' || at[-1] == '-') return NULL;
        if (at - label > 3 && label[2] == '-' && label[3] == '-') return NULL;
        if (at == end || *at != '.') break;
    }
    if (!(*label >= 'a' && *label <= 'z') && !is_address(host, at)) return NULL;
    if (at < end && *at == ':') {
        const char *digits = ++at;
        while (at < end && at - digits < 5 && is(*at, DIGIT)) port = port * 10 + (*at++ - '0');
        if (at == digits || *digits == '0' || port > 65535 || port == usual) return NULL;
    }
    return at == end || *at == '/' || *at == '?' ? at : NULL;
}

typedef struct {
    const char *at;
    Py_ssize_t origin, folder, path, size; /* where each of them ends; all 0 for a base that is not plain */
    char *made;                            /* an href being made */
    Py_ssize_t room;
} Base;

/* Append a path that is read from the folder that was made so far; what it made, or NULL for what is in doubt. */
static char *append_path(char *to, const char *root, const char *at, const char *end) {
    while (at < end) {
        const char *segment = at;
        for (; at < end && *at != '/'; at++) {
            if (!(is(*at, PATH))) return NULL;
            if (*at == '%' && end - at > 2 && at[1] == '2' && lower(at[2]) == 'e') return NULL;
        }
        const Py_ssize_t size = at - segment;
        at += at < end;
        if (size == 1 && segment[0] == '.') continue;
        if (size == 2 && segment[0] == '.' && segment[1] == '.') {
            if (to > root + 1)
                for (to--; to[-1] != '/'; to--) {}
            continue;
        }
        memcpy(to, segment, (size_t)(at - segment));
        to += at - segment;
    }
    return to;
}

/* Take a URL as base, if it is plain and written as it would be serialised. */
static void note_base(Base *base, const char *at, Py_ssize_t size) {
    const char *end = at + size, *origin = origin_end(at, end), *path, *folder;
    if (!origin || origin == end || *origin != '/') return;
    path = past(origin, end, PATH);
    if (path < end && (*path != '?' || past(path, end, QUERY) < end)) return;
    char *copy = PyMem_Malloc((size_t)size + 1), *to;
    if (!copy) return; /* then Python does it, and says so if it has no memory either */
    memcpy(copy, at, (size_t)(origin + 1 - at));
    to = append_path(copy + (origin + 1 - at), copy + (origin - at), origin + 1, path);
    const int is_same = to && to - copy == path - at && memcmp(copy, at, (size_t)(path - at)) == 0;
    PyMem_Free(copy);
    if (!is_same) return;
    for (folder = path; folder[-1] != '/'; folder--) {}
    base->at = at;
    base->origin = origin - at;
    base->folder = folder - at;
    base->path = path - at;
    base->size = size;
}

/* Make the href of a reference and return its length, 0 for what is in doubt, -1 without memory. */
static Py_ssize_t join(Base *base, const char *at, Py_ssize_t size) {
    const char *end = at + size, *query, *colon, *origin;
    char *to, *root;
    if (!base->size || size > 65535) return 0;
    if (base->room < base->size + size + 2) {
        const Py_ssize_t room = 2 * (base->size + size + 2);
        if (!(to = PyMem_Realloc(base->made, (size_t)room))) return -1;
        base->made = to;
        base->room = room;
    }
    to = base->made;
    query = find(at, end, '?');
    if (!query) query = end;
    if (past(query, end, QUERY) < end) return 0;
    for (colon = at; colon < query && *colon != ':' && *colon != '/'; colon++) {}
    if (colon < query && *colon == ':') {
        if (!(origin = origin_end(at, end))) {
            /* An opaque path of another scheme (4.4, opaque path state). */
            static const char *const SPECIAL[] = {"http", "https", "ws", "wss", "ftp", "file"};
            for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++)
                if (colon - at == (Py_ssize_t)strlen(SPECIAL[i]) && memcmp(at, SPECIAL[i], (size_t)(colon - at)) == 0)
                    return 0;
            if (colon == at || *at < 'a' || *at > 'z' || past(at, colon, SCHEME) < colon) return 0;
            if (colon + 1 == end || colon[1] == '/' || past(colon, query, PATH) < query) return 0;
            memcpy(to, at, (size_t)size);
            return size;
        }
        memcpy(to, at, (size_t)(origin - at));
        root = to += origin - at;
        *to++ = '/';
        at = origin + (origin < end && *origin == '/');
    } else if (at == end || *at == '?') {
        const Py_ssize_t kept = at == end ? base->size : base->path;
        memcpy(to, base->at, (size_t)kept);
        memcpy(to + kept, at, (size_t)size);
        return kept + size;
    } else if (*at == '/') {
        if (end - at > 1 && at[1] == '/') return 0;
        memcpy(to, base->at, (size_t)base->origin);
        root = to += base->origin;
        *to++ = '/';
        at++;
    } else {
        memcpy(to, base->at, (size_t)base->folder);
        root = to + base->origin;
        to += base->folder;
    }
    if (at < query && !(to = append_path(to, root, at, query))) return 0;
    memcpy(to, query, (size_t)(end - query));
    return to + (end - query) - base->made;
}

/* The href of a reference, None if it is no URL. */
static PyObject *href_of(Base *base, PyObject *reference, PyObject *joiner) {
    Py_ssize_t size;
    const char *at = PyUnicode_AsUTF8AndSize(reference, &size);
    if (!at) PyErr_Clear(); /* a lone surrogate, or no memory: Python will say which */
    size = at ? join(base, at, size) : 0;
    if (size < 0) return PyErr_NoMemory();
    if (size) return PyUnicode_FromStringAndSize(base->made, size);
    return PyObject_CallFunctionObjArgs(joiner, reference, NULL);
}

typedef struct {
    Py_hash_t hash;
    Py_ssize_t place; /* in the list of links, from 1 on; 0 for none */
} Slot;

/* Links being resolved. */
typedef struct {
    Base base;
    PyObject *joiner, *usual; /* usual: the kind of an <a> */
    PyObject *list;           /* of what was made */
    Slot *slots;              /* where each stands in it; a power of two of them, a third is always free */
    Py_ssize_t room, count;
    Py_ssize_t kept, most;
} Links;

/* The slot of a link, or the free one where it belongs. Python's own hash of texts cannot be aimed at. */
static Slot *slot_of(const Links *l, Py_hash_t hash, PyObject *href, PyObject *kind, PyObject *is_url) {
    for (size_t i = (size_t)hash;; i++) {
        Slot *slot = &l->slots[i & (size_t)(l->room - 1)];
        if (!slot->place) return slot;
        if (slot->hash != hash) continue;
        PyObject *link = PyList_GetItem(l->list, slot->place - 1), *its_kind = PyTuple_GetItem(link, 1);
        if (PyTuple_GetItem(link, 3) == is_url && PyUnicode_Compare(PyTuple_GetItem(link, 0), href) == 0 &&
            (its_kind == kind || PyUnicode_Compare(its_kind, kind) == 0))
            return slot;
        if (PyErr_Occurred()) return NULL;
    }
}

static int make_slots(Links *l) {
    if (l->slots && 3 * l->count < 2 * l->room) return 0;
    const Py_ssize_t room = l->slots ? 2 * l->room : FIRST_ROOM;
    Slot *slots = PyMem_Calloc((size_t)room, sizeof *slots);
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < l->room; i++) {
        if (!l->slots[i].place) continue;
        size_t at = (size_t)l->slots[i].hash;
        while (slots[at & (size_t)(room - 1)].place) at++;
        slots[at & (size_t)(room - 1)] = l->slots[i];
    }
    PyMem_Free(l->slots);
    l->slots = slots;
    l->room = room;
    return 0;
}

static int put_link(Links *l, PyObject *href, PyObject *kind, PyObject *nofollow, PyObject *is_url) {
    Py_hash_t hash = PyObject_Hash(href), of_kind = kind == l->usual ? 0 : PyObject_Hash(kind);
    if (hash == -1 || of_kind == -1 || make_slots(l) < 0) return -1;
    hash ^= of_kind;
    Slot *slot = slot_of(l, hash, href, kind, is_url);
    if (!slot) return -1;
    if (slot->place && (nofollow == Py_True || PyTuple_GetItem(PyList_GetItem(l->list, slot->place - 1), 2) == Py_False))
        return 0;
    PyObject *link = PyTuple_Pack(4, href, kind, nofollow, is_url);
    if (!link) return -1;
    if (slot->place) return PyList_SetItem(l->list, slot->place - 1, link); /* it keeps its place */
    int failed = PyList_Append(l->list, link);
    Py_DECREF(link);
    if (!failed) *slot = (Slot){hash, ++l->count};
    return failed;
}

/* Add a link to those made, or what it says to the link that it is again. Takes href over. */
static int add_link(Links *l, PyObject *reference, PyObject *href, PyObject *kind, int nofollow) {
    PyObject *is_url = Py_True;
    if (href == Py_None) {
        Py_DECREF(href);
        href = PyUnicode_Substring(reference, 0, l->kept);
        is_url = Py_False;
    } else if (href) {
        l->most -= PyUnicode_GetLength(href);
    }
    if (!href) return -1;
    int failed = put_link(l, href, kind, nofollow ? Py_True : Py_False, is_url);
    Py_DECREF(href);
    return failed;
}

/* Cut the fragment off; "a #b" keeps its space when parsed. */
static PyObject *without_fragment(PyObject *whole) {
    Py_ssize_t size = PyUnicode_GetLength(whole), cut = PyUnicode_FindChar(whole, '#', 0, size, 1);
    if (cut == 0 || (cut > 0 && PyUnicode_ReadChar(whole, cut - 1) > ' ')) {
        PyObject *before = PyUnicode_Substring(whole, 0, cut);
        Py_DECREF(whole);
        return before;
    }
    if (cut < -1) Py_CLEAR(whole);
    return whole;
}

/* The reference of a plain link as a text. */
static PyObject *reference_of(const Plain *plain, Span href) {
    if (!find(href.at, href.at + href.size, '&')) return decoded(plain->how, href.at, href.size);
    PyObject *whole = value_of(plain->how, href);
    return whole ? without_fragment(whole) : NULL;
}

static int add_plain(Links *l, const Plain *plain, Span href) {
    if (!find(href.at, href.at + href.size, '&')) {
        const Py_ssize_t size = join(&l->base, href.at, href.size);
        if (size < 0) {
            PyErr_NoMemory();
            return -1;
        }
        if (size) return add_link(l, NULL, PyUnicode_FromStringAndSize(l->base.made, size), l->usual, 0);
    }
    PyObject *reference = reference_of(plain, href);
    if (!reference) return -1;
    int failed = add_link(l, reference, href_of(&l->base, reference, l->joiner), l->usual, 0);
    Py_DECREF(reference);
    return failed;
}

/* How many plain links stand before what comes next; -1 if that cannot be. */
static Py_ssize_t told_by(PyObject *key, const Plain *plain, Py_ssize_t before) {
    const Py_ssize_t count = PyLong_AsSsize_t(key);
    if (plain && count >= before && count <= plain->count) return count;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "so many plain links there are not");
    return -1;
}

static int add_reference(Links *l, PyObject *key, int nofollow) {
    const int is_usual = PyUnicode_Check(key);
    PyObject *kind = is_usual ? l->usual : PyTuple_GetItem(key, 0);
    PyObject *reference = is_usual ? key : PyTuple_GetItem(key, 1);
    if (!kind || !reference) return -1;
    if (!PyUnicode_Check(reference)) {
        PyErr_SetString(PyExc_TypeError, "references are texts");
        return -1;
    }
    Py_INCREF(key); /* the joiner may be anybody's */
    PyObject *href = l->most < 0 ? Py_NewRef(Py_None) : href_of(&l->base, reference, l->joiner);
    int failed = add_link(l, reference, href, kind, nofollow);
    Py_DECREF(key);
    return failed;
}

/* Resolve all references. 1: there was no room for all hrefs, of which some may have been counted twice. */
static int add_all(Links *l, PyObject *links, const Plain *plain) {
    PyObject *key, *value;
    Py_ssize_t position = 0, at = 0;
    while (PyDict_Next(links, &position, &key, &value)) {
        if (!PyLong_Check(key)) {
            if (add_reference(l, key, value == Py_True) < 0) return -1;
        } else {
            const Py_ssize_t told = told_by(key, plain, at);
            if (told < 0) return -1;
            for (; at < told && l->most >= 0; at++)
                if (add_plain(l, plain, plain->all[at]) < 0) return -1;
        }
        if (l->most < 0 && plain) return 1;
    }
    return 0;
}

/* The same references with a text for each plain one. */
static PyObject *written_out(PyObject *links, const Plain *plain) {
    PyObject *all = PyDict_New(), *key, *value;
    Py_ssize_t position = 0, at = 0;
    int failed = !all;
    while (!failed && PyDict_Next(links, &position, &key, &value)) {
        if (!PyLong_Check(key)) {
            PyObject *before = PyDict_GetItemWithError(all, key);
            failed = PyErr_Occurred() || PyDict_SetItem(all, key, before == Py_False ? Py_False : value) < 0;
            continue;
        }
        const Py_ssize_t told = told_by(key, plain, at);
        failed = told < 0;
        for (; !failed && at < told; at++) {
            PyObject *reference = reference_of(plain, plain->all[at]);
            failed = !reference || PyDict_SetItem(all, reference, Py_False) < 0;
            Py_XDECREF(reference);
        }
    }
    if (failed) Py_CLEAR(all);
    return all;
}

PyDoc_STRVAR(resolve_doc,
"resolve(base, links, joiner, kept, most, plain=None)\n--\n\n"
"Return the raw links of {(kind, reference), or the reference of an <a>, or how many plain links of read stand there: nofollow},\n"
"each resolved here or, where that is in doubt, by the joiner; see resolve.raw_links. So many characters are kept of what is no\n"
"URL; most is how many all hrefs may have.");

static PyObject *scan_resolve(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *origin, *links, *capsule = Py_None, *made = NULL, *all;
    const char *at;
    const Plain *plain = NULL;
    Py_ssize_t size, most;
    Links l;
    memset(&l, 0, sizeof l);
    /* No "s#": what it compiles to depends on the headers' version, and one file serves every Python. */
    if (!PyArg_ParseTuple(arguments, "UO!Onn|O:resolve", &origin, &PyDict_Type, &links, &l.joiner, &l.kept, &most, &capsule))
        return NULL;
    if (capsule != Py_None && !(plain = PyCapsule_GetPointer(capsule, PLAIN))) return NULL;
    if (!(at = PyUnicode_AsUTF8AndSize(origin, &size))) return NULL;
    note_base(&l.base, at, size);
    l.most = most;
    if (!(l.list = PyList_New(0)) || !(l.usual = PyUnicode_InternFromString("a"))) goto done;
    int failed = add_all(&l, links, plain);
    if (failed > 0 && (all = written_out(links, plain))) {
        /* Each reference is counted once: as it may be much work, that is done only where it decides. */
        if (l.slots) memset(l.slots, 0, (size_t)l.room * sizeof *l.slots);
        l.count = 0;
        l.most = most;
        failed = PyList_SetSlice(l.list, 0, PyList_Size(l.list), NULL) < 0 ? -1 : add_all(&l, all, NULL);
        Py_DECREF(all);
    }
    if (!failed) made = PyList_AsTuple(l.list);
done:
    PyMem_Free(l.base.made);
    Py_XDECREF(l.usual);
    Py_XDECREF(l.list);
    PyMem_Free(l.slots);
    return made;
}

PyDoc_STRVAR(join_doc,
"join(base, reference)\n--\n\n"
"Return the href of a reference, None where it is in doubt; without a reference whether the base leaves none.");

static PyObject *scan_join(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *origin, *reference = NULL, *made = NULL;
    Py_ssize_t size, length = 0;
    const char *at, *text = NULL;
    Base base;
    memset(&base, 0, sizeof base);
    if (!PyArg_ParseTuple(arguments, "U|U:join", &origin, &reference)) return NULL;
    if ((at = PyUnicode_AsUTF8AndSize(origin, &size))) note_base(&base, at, size);
    if (at && !reference) return PyBool_FromLong(base.size > 0);
    if (at && (text = PyUnicode_AsUTF8AndSize(reference, &length))) length = join(&base, text, length);
    if (!at || !text) {
        PyErr_Clear(); /* a lone surrogate, or no memory: Python will say which */
        length = 0;
    }
    if (length < 0) PyErr_NoMemory();
    else made = length ? PyUnicode_FromStringAndSize(base.made, length) : Py_NewRef(Py_None);
    PyMem_Free(base.made);
    return made;
}

static PyMethodDef METHODS[] = {
    {"read", scan_read, METH_VARARGS, read_doc},
    {"join", scan_join, METH_VARARGS, join_doc},
    {"resolve", scan_resolve, METH_VARARGS, resolve_doc},
    {"is_silent", scan_is_silent, METH_O, is_silent_doc},
    {"is_plain", scan_is_plain, METH_O, is_plain_doc},
    {NULL, NULL, 0, NULL},
};

#ifndef SOURCE
#define SOURCE ""
#endif
static int prepare(PyObject *module) {
    if (PyModule_AddStringConstant(module, "SOURCE", SOURCE) < 0) return -1;
    return PyModule_AddIntConstant(module, "INTERFACE", 5); /* as in native.py */
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)prepare}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "purlieu.page._scan", "What markup.read does, in C.", 0, METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&MODULE); }
