// The one C entry point of the package: parse a text and flatten its syntax
// tree. See tree.c.
#ifndef CODESAGE_TREE_H
#define CODESAGE_TREE_H

#include <stdint.h>

// A node of the flattened tree. The tree is in pre-order: the first child of
// node i, if it has one, is i+1, and next is the first node behind its subtree.
typedef struct {
  uint32_t start, end; // bytes
  int32_t parent;      // -1 for the root
  int32_t next;
  uint16_t symbol;
  uint16_t field;      // 0 when the node is not the field of its parent
} codesage_node;

typedef struct {
  codesage_node *nodes; // free() it
  int32_t count;        // -1: the time limit was hit, -2: no memory, -3: no such language
} codesage_tree;

codesage_tree codesage_parse(const void *language, const char *text, uint32_t length,
                             uint64_t limit_micros, const uint8_t *keep, uint32_t keep_length);

// codesage_prepare keeps the C heap in one piece, so that what one thread frees
// is there for the next.
void codesage_prepare(void);

// codesage_trim gives memory that is free back to the system where the C
// library can.
void codesage_trim(void);

#endif
