/* The hot part of markup.read in C: the same tokens, the same elements, the same text, a tenth of the time.

   markup.py is the truth, and says where in the HTML Standard each rule stands; this file only repeats it. Works on
   UTF-8: all that means something in HTML is ASCII, so text is decoded where it is kept and nowhere else. One pass,
   no recursion, no global state; every read is bounded by `end`. Only the stable ABI of Python 3.11 is used. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* What a byte can be, in bits. */
enum { WHITE = 1, SLASH = 2, CLOSE = 4, EQUALS = 8, LETTER = 16, DIGIT = 32, MARK = 64 /* ! ? */ };

#define L LETTER
static const unsigned char KINDS[256] = {
    ['\t'] = WHITE, ['\n'] = WHITE, ['\f'] = WHITE, ['\r'] = WHITE, [' '] = WHITE,
    ['/'] = SLASH, ['>'] = CLOSE, ['='] = EQUALS, ['!'] = MARK, ['?'] = MARK,
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,
    ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
    ['A'] = L, ['B'] = L, ['C'] = L, ['D'] = L, ['E'] = L, ['F'] = L, ['G'] = L, ['H'] = L, ['I'] = L,
    ['J'] = L, ['K'] = L, ['L'] = L, ['M'] = L, ['N'] = L, ['O'] = L, ['P'] = L, ['Q'] = L, ['R'] = L,
    ['S'] = L, ['T'] = L, ['U'] = L, ['V'] = L, ['W'] = L, ['X'] = L, ['Y'] = L, ['Z'] = L,
    ['a'] = L, ['b'] = L, ['c'] = L, ['d'] = L, ['e'] = L, ['f'] = L, ['g'] = L, ['h'] = L, ['i'] = L,
    ['j'] = L, ['k'] = L, ['l'] = L, ['m'] = L, ['n'] = L, ['o'] = L, ['p'] = L, ['q'] = L, ['r'] = L,
    ['s'] = L, ['t'] = L, ['u'] = L, ['v'] = L, ['w'] = L, ['x'] = L, ['y'] = L, ['z'] = L,
};
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
#define FOOTER K6('f', 'o', 'o', 't', 'e', 'r')
#define HEAD K4('h', 'e', 'a', 'd')
#define HEADER K6('h', 'e', 'a', 'd', 'e', 'r')
#define HREF K4('h', 'r', 'e', 'f')
#define HTML K4('h', 't', 'm', 'l')
#define IFRAME K6('i', 'f', 'r', 'a', 'm', 'e')
#define LINK K4('l', 'i', 'n', 'k')
#define MATH K4('m', 'a', 't', 'h')
#define META K4('m', 'e', 't', 'a')
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

enum { LATE = 1000, AT_ONCE = 4096, MOST_WANTED = 64 };
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
    PyObject *name;
} Wanted;

typedef struct {
    const char *end; /* of the page */
    const char *errors;
    PyObject *take, *unescaped, *places; /* borrowed */
    PyObject *elements;                  /* not yet handed over */
    PyObject *plain;                     /* the last of the elements if that is a dict of plain links: borrowed */
    PyObject *title;
    Text main, aside;
    Py_ssize_t most_text;
    Wanted wanted[MOST_WANTED];
    int wanted_count, wants_a;
    uint32_t initials; /* of the wanted names */
    int in_head, noscript, head_is_open;
    Py_ssize_t templates, foreign, asides, head_end, late;
} Reader;

/* One token that begins with <. */
typedef struct {
    Key key;     /* 0: no tag, or one whose name decides nothing */
    int is_tag;  /* a tag that ends, and no plaintext */
    int is_end;  /* </...> */
    int has_rel, has_href;
    Span attributes; /* as written, up to the > */
    Span content;    /* of an element that holds text only */
    Span href, rel;  /* of an <a> */
    const char *next;
} Token;

static inline Key key_of(const char *at, Py_ssize_t size) {
    Key key = 0;
    if (size > KEY_BYTES) return 0;
    for (Py_ssize_t i = 0; i < size; i++) key |= (Key)(unsigned char)lower(at[i]) << (8 * i);
    return key;
}

static inline const char *past(const char *at, const char *end, int kinds) {
    while (at < end && is(*at, kinds)) at++;
    return at;
}

static inline const char *find(const char *at, const char *end, char byte) {
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
    name->at = p++;
    while (p < end && !is(*p, WHITE | SLASH | CLOSE | EQUALS)) p++;
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
static void read_token(const char *at, const char *end, int wants_a, Token *token) {
    const char *name = at + 1, *p;
    token->key = 0;
    token->is_tag = token->is_end = token->has_href = token->has_rel = 0;
    token->content = token->href = token->rel = token->attributes = (Span){at, 0};
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
    p = name;
    while (p < end && !is(*p, WHITE | SLASH | CLOSE)) p++;
    Key key = key_of(name, p - name);
    Span one, value;
    int left;
    token->attributes.at = p;
    if (key == A && !token->is_end && wants_a) {
        while ((left = next_attribute(&p, end, &one, &value)) > 0) {
            Key which = key_of(one.at, one.size);
            if (which == HREF && !token->has_href) {
                token->has_href = 1;
                token->href = value;
            } else if (which == REL && !token->has_rel) {
                token->has_rel = 1;
                token->rel = value;
            }
        }
    } else {
        while ((left = next_attribute(&p, end, &one, &value)) > 0) {}
    }
    if (left < 0) return; /* a tag that does not end: the tokenizer drops it */
    token->attributes.size = p - token->attributes.at;
    if (!token->is_end && p - name >= 9 && is_named(name, end, "plaintext", 9)) return;
    token->is_tag = 1;
    token->key = key;
    token->next = p + 1;
    if (!token->is_end && (p = content_end(key, token->next, end))) {
        token->content.at = token->next;
        token->content.size = p - token->next;
        token->next = p;
    }
}

static PyObject *decoded(const Reader *r, const char *at, Py_ssize_t size) {
    return PyUnicode_DecodeUTF8(at, size, r->errors);
}

static int keep(Reader *r, Text *text, const char *at, const char *end) {
    if (at == end) return 0;
    if (!text->bytes && !(text->bytes = PyMem_Malloc((size_t)r->most_text))) {
        PyErr_NoMemory();
        return -1;
    }
    /* Each piece is parted from the next by a token of at least two bytes, so the spaces fit. */
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
static PyObject *value_of(const Reader *r, Span value) {
    const char *end = value.at + value.size, *p = value.at, *amp = find(p, end, '&');
    if (!amp) return decoded(r, value.at, value.size);
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
            PyObject *written = decoded(r, value.at, value.size);
            if (written) {
                found = PyObject_CallFunctionObjArgs(r->unescaped, written, NULL);
                Py_DECREF(written);
            }
            goto done;
        }
    }
    memcpy(to, p, (size_t)(end - p));
    to += end - p;
    found = decoded(r, made, to - made);
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
            name = decoded(r, low, one.size);
            PyMem_Free(low);
        } else {
            PyErr_NoMemory();
        }
        int known = name ? PyDict_Contains(found, name) : -1;
        if (known == 0 && (text = value_of(r, value))) known = PyDict_SetItem(found, name, text);
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

/* Hand over what was found, if nothing of it can still turn out to stand in the head. */
static int hand_over(Reader *r) {
    PyObject *elements = r->elements;
    if (!(r->elements = PyList_New(0))) {
        r->elements = elements;
        return -1;
    }
    r->plain = NULL;
    PyObject *none = PyObject_CallFunctionObjArgs(r->take, elements, NULL);
    Py_DECREF(elements);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

static int add(Reader *r, PyObject *element) {
    if (!element) return -1;
    int failed = PyList_Append(r->elements, element);
    Py_DECREF(element); /* the list holds it */
    return failed;
}

static int add_element(Reader *r, PyObject *name, Span written) {
    PyObject *found = attributes_of(r, written);
    if (!found) return -1;
    PyObject *place = PyTuple_GetItem(r->places, place_of(r));
    r->plain = NULL;
    int failed = place ? add(r, PyTuple_Pack(3, name, found, place)) : -1;
    Py_DECREF(found);
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

static PyObject *plain_reference(const Reader *r, Span href) {
    const char *end = href.at + href.size;
    if (find(href.at, end, '&')) {
        PyObject *whole = value_of(r, href);
        return whole ? without_fragment(whole) : NULL;
    }
    const char *cut = find(href.at, end, '#');
    if (cut && (cut == href.at || (unsigned char)cut[-1] > ' ')) end = cut;
    return decoded(r, href.at, end - href.at);
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
    if (!token->has_href) return 0;
    PyObject *href = plain_reference(r, token->href);
    if (!href) return -1;
    if (!r->plain) {
        PyObject *plain = PyDict_New();
        if (add(r, plain) < 0) {
            Py_DECREF(href);
            return -1;
        }
        r->plain = plain;
    }
    int failed = PyDict_SetItem(r->plain, href, Py_False);
    Py_DECREF(href);
    return failed;
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
    if (token->is_end || !token->key || !(r->initials >> ((token->key - 'a') & 31) & 1)) return NULL;
    for (int i = 0; i < r->wanted_count; i++)
        if (r->wanted[i].key == token->key) return r->wanted[i].name;
    return NULL;
}

static int take(Reader *r, const Token *token) {
    PyObject *name;
    int framed = frame(r, token);
    if (framed) return framed < 0 ? -1 : 0;
    if (r->templates) return 0;
    if ((name = wanted_name(r, token))) {
        if (!r->in_head && ++r->late > LATE) r->head_is_open = 0;
        if ((token->key == A ? take_anchor(r, name, token) : add_element(r, name, token->attributes)) < 0) return -1;
        if (PyList_Size(r->elements) >= AT_ONCE && (r->in_head || !r->head_is_open)) return hand_over(r);
    } else if (token->key == TITLE && !token->is_end && !r->title && place_of(r) <= IN_BODY) {
        if (!(r->title = decoded(r, token->content.at, token->content.size))) return -1;
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
        r->plain = NULL;
    }
    return keep(r, r->asides ? &r->aside : &r->main, at, end);
}

static int read_page(Reader *r, const char *at) {
    const char *text = at;
    Token token;
    while ((at = find(at, r->end, '<'))) {
        if (r->end - at < 2 || !is(at[1], LETTER | SLASH | MARK)) {
            at++;
            continue;
        }
        read_token(at, r->end, r->wants_a, &token);
        if (take_text(r, &token, text, at) < 0) return -1;
        if (token.is_tag && take(r, &token) < 0) return -1;
        text = at = token.next;
    }
    if (keep(r, r->asides ? &r->aside : &r->main, text, r->end) < 0) return -1;
    return hand_over(r);
}

/* Whether bytes are well-formed UTF-8 (Unicode 3.9, table 3-7). */
static int is_utf8(const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8) {
            memcpy(&eight, at, 8);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                at += 8;
                continue;
            }
        }
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
    PyObject *string = decoded(r, bytes, text->size);
    PyObject *whole = string ? PyUnicode_AsEncodedString(string, "utf-8", "replace") : NULL;
    Py_XDECREF(string);
    return whole;
}

static int note_wanted(Reader *r, PyObject *wanted) {
    PyObject *each = PyObject_GetIter(wanted), *name;
    if (!each) return -1;
    while ((name = PyIter_Next(each))) {
        Py_ssize_t size = 0;
        const char *text = PyUnicode_AsUTF8AndSize(name, &size);
        if (text && (size < 1 || size > KEY_BYTES || *text < 'a' || *text > 'z' || r->wanted_count == MOST_WANTED)) {
            PyErr_Format(PyExc_ValueError, "wanted are up to %d names of 1 to %d letters, not %R", MOST_WANTED,
                         KEY_BYTES, name);
            text = NULL;
        }
        if (!text) {
            Py_DECREF(name);
            break;
        }
        r->wanted[r->wanted_count].key = key_of(text, size);
        r->wanted[r->wanted_count++].name = name;
        r->initials |= (uint32_t)1 << (*text - 'a');
        if (size == 1 && *text == 'a') r->wants_a = 1;
    }
    Py_DECREF(each);
    return PyErr_Occurred() ? -1 : 0;
}

PyDoc_STRVAR(read_doc,
"read(source, errors, wanted, take, unescaped, places)\n--\n\n"
"Return (title, main, aside) of a page in UTF-8 without NUL and CDATA sections; see markup.read.");

static PyObject *scan_read(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *source, *wanted, *made = NULL;
    char *bytes;
    Py_ssize_t size;
    Reader r;
    memset(&r, 0, sizeof r);
    if (!PyArg_ParseTuple(arguments, "SsO!OOO!:read", &source, &r.errors, &PyFrozenSet_Type, &wanted, &r.take,
                          &r.unescaped, &PyTuple_Type, &r.places))
        return NULL;
    if (PyTuple_Size(r.places) != PLACES) return PyErr_Format(PyExc_ValueError, "there are %d places", PLACES);
    if (PyBytes_AsStringAndSize(source, &bytes, &size) < 0) return NULL;
    r.end = bytes + size;
    r.most_text = size + 1;
    r.in_head = r.head_is_open = 1;
    if (note_wanted(&r, wanted) == 0 && (r.elements = PyList_New(0)) && read_page(&r, bytes) == 0) {
        PyObject *main_text = whole_text(&r, &r.main), *aside_text = whole_text(&r, &r.aside);
        if (main_text && aside_text) made = PyTuple_Pack(3, r.title ? r.title : Py_None, main_text, aside_text);
        Py_XDECREF(main_text);
        Py_XDECREF(aside_text);
    }
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

static PyMethodDef METHODS[] = {
    {"read", scan_read, METH_VARARGS, read_doc},
    {"is_plain", scan_is_plain, METH_O, is_plain_doc},
    {NULL, NULL, 0, NULL},
};

#ifndef SOURCE
#define SOURCE ""
#endif
static int prepare(PyObject *module) { return PyModule_AddStringConstant(module, "SOURCE", SOURCE); }

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)prepare}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "purlieu.page._scan", "What markup.read does, in C.", 0, METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&MODULE); }
