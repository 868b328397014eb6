#include <stdio.h>
#include "local/header.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LIMIT 10

struct point {
    int x, y;
};

typedef struct node {
    struct node *next; /* the next one */
} node;

typedef struct {
    double re, im;
} complex_t;

typedef unsigned long size_type;
typedef int (*compare_fn)(const void *, const void *);

enum color { RED, GREEN };

union value {
    int i;
    float f;
};

int forward(int a);

static inline int
add(int a, int b)
{
    return a + b; // sum
}

char *join(const char *a,
           const char *b) {
    return "x" + 'c';
}

#ifdef DEBUG
void debug_only(void) {}
#else
void release_only(void) {}
#endif

int (*pick(int which))(int) { return 0; }
