// Parsing and flattening in one call. The tree-sitter runtime is compiled by
// the Go package that bundles the grammars; only its public C functions are
// used here, by prototypes that equal those of its api.h. One call for each
// file instead of several for each node is what makes a walk of the whole tree
// (comments and strings stand everywhere) cost a few per cent of the parse.
#include "tree.h"

#include <stdbool.h>
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct {
  uint32_t context[4];
  const void *id;
  const TSTree *tree;
} TSNode;
typedef struct {
  const void *tree;
  const void *id;
  uint32_t context[3];
} TSTreeCursor;

extern TSParser *ts_parser_new(void);
extern void ts_parser_delete(TSParser *);
extern bool ts_parser_set_language(TSParser *, const void *);
extern void ts_parser_set_timeout_micros(TSParser *, uint64_t);
extern TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t);
extern void ts_tree_delete(TSTree *);
extern TSNode ts_tree_root_node(const TSTree *);
extern TSTreeCursor ts_tree_cursor_new(TSNode);
extern void ts_tree_cursor_delete(TSTreeCursor *);
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
extern uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *);
extern uint16_t ts_node_symbol(TSNode);
extern uint32_t ts_node_start_byte(TSNode);
extern uint32_t ts_node_end_byte(TSNode);

// add appends the cursor's node and returns its index, or -1 without memory.
static int32_t add(codesage_tree *out, int32_t *capacity, const TSTreeCursor *cursor, int32_t parent) {
  if (out->count == *capacity) {
    int32_t larger = *capacity + *capacity / 2 + 1024;
    codesage_node *nodes = realloc(out->nodes, (size_t)larger * sizeof(codesage_node));
    if (!nodes) return -1;
    out->nodes = nodes;
    *capacity = larger;
  }
  TSNode node = ts_tree_cursor_current_node(cursor);
  codesage_node *n = &out->nodes[out->count];
  n->start = ts_node_start_byte(node);
  n->end = ts_node_end_byte(node);
  n->symbol = ts_node_symbol(node);
  n->field = ts_tree_cursor_current_field_id(cursor);
  n->parent = parent;
  n->next = out->count + 1;
  return out->count++;
}

// wanted says whether a node is kept: by the table, as the field of its
// parent, or because it is an error, whose symbol lies outside of every table.
static bool wanted(const TSTreeCursor *cursor, const uint8_t *keep, uint32_t keep_length) {
  uint16_t symbol = ts_node_symbol(ts_tree_cursor_current_node(cursor));
  return symbol >= keep_length || keep[symbol] || ts_tree_cursor_current_field_id(cursor) != 0;
}

// flatten walks the tree without recursion: its depth is the file's choice.
// It returns false when memory runs out.
static bool flatten(TSTreeCursor *cursor, const uint8_t *keep, uint32_t keep_length, codesage_tree *out) {
  int32_t capacity = 0;
  int32_t parent = add(out, &capacity, cursor, -1);
  if (parent < 0) return false;
  bool inside = ts_tree_cursor_goto_first_child(cursor);
  while (inside) {
    if (wanted(cursor, keep, keep_length)) {
      int32_t self = add(out, &capacity, cursor, parent);
      if (self < 0) return false;
      if (ts_tree_cursor_goto_first_child(cursor)) {
        parent = self;
        continue;
      }
    }
    while (inside && !ts_tree_cursor_goto_next_sibling(cursor)) {
      out->nodes[parent].next = out->count;
      parent = out->nodes[parent].parent;
      inside = parent >= 0 && ts_tree_cursor_goto_parent(cursor);
    }
  }
  return true;
}

codesage_tree codesage_parse(const void *language, const char *text, uint32_t length,
                             uint64_t limit_micros, const uint8_t *keep, uint32_t keep_length) {
  codesage_tree out = {NULL, 0};
  TSParser *parser = ts_parser_new();
  if (!parser || !ts_parser_set_language(parser, language)) {
    if (parser) ts_parser_delete(parser);
    out.count = -3;
    return out;
  }
  ts_parser_set_timeout_micros(parser, limit_micros);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  ts_parser_delete(parser);
  if (!tree) {
    out.count = -1;
    return out;
  }
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  if (!flatten(&cursor, keep, keep_length, &out)) {
    free(out.nodes);
    out.nodes = NULL;
    out.count = -2;
  }
  ts_tree_cursor_delete(&cursor);
  ts_tree_delete(tree);
  return out;
}

void codesage_prepare(void) {
#if defined(__GLIBC__)
  mallopt(M_ARENA_MAX, 1);
#endif
}

void codesage_trim(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}
