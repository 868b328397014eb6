// Package index is an immutable, memory-mapped search index for source code:
// ranked term, phrase, prefix and boolean search over the documents of files
// (chunks, or entities), filters on keywords, numbers and paths, and a trigram
// prefilter for substrings and regular expressions. It imports the standard
// library and the query tree only.
//
// # Walk
//
// A [Schema] says which fields and attributes documents have. Chunks of text:
//
//	index.Schema{
//		Fields:   []index.Field{{Name: "content", Kind: index.Content}, {Name: "parts", Kind: index.Parts, Of: 0}},
//		Trigrams: true, MaxToken: 40,
//	}
//
// Entities, with text of their own, filters, rank attributes and a record that
// comes back with the hits:
//
//	index.Schema{
//		Fields: []index.Field{
//			{Name: "name"}, {Name: "name parts", Kind: index.Parts, Of: 0},
//			{Name: "body"}, {Name: "language", Kind: index.Keyword},
//		},
//		Attrs: []string{"is_test", "rank_weight", "line_start", "line_end"},
//	}
//
// A [Writer] makes one segment file from files and their documents, within a
// budget of memory:
//
//	owner, err := index.NewOwner(dir)
//	defer owner.End()
//	name := owner.NewSegment()
//	w, err := index.NewWriter(index.WriterOptions{Schema: schema, Dir: dir, Owner: owner.Name()})
//	err = w.Add(index.File{Path: "a.go", Hash: blob, Text: text, Docs: []index.Doc{{Start: 0, End: 512}}})
//	err = w.Finish(filepath.Join(dir, name))
//
// Segments never change and names are never used twice. A [Manifest] names the
// segments of one state of the index and the files that are deleted in each.
// Writing it, under a name of the caller's, is one atomic and durable step:
//
//	err = owner.WriteManifest("run-42.json", index.Manifest{Segments: []index.ManifestSegment{{Name: name}}})
//
// To replace a file, write its new version into a new segment, and write a
// manifest that names both and has the old version in [FileSet] of its segment
// ([Segment.Find] or [Index.EachFile] give its number).
//
// An [Index] is a view of one manifest, or of several, one a repository, with
// [Join]. It is safe for concurrent use and closed when no new search begins:
//
//	x, err := index.OpenIndex(dir, "run-42.json", prev) // shares segments with prev
//	defer x.Close()
//	hits, err := x.Search(ctx, query.Term{Field: 0, Text: index.Fold("Mutex")}, index.Options{K: 10})
//
// [Index.Search] returns the best hits in a total, stable order; [Index.Each]
// visits every match, for callers that rank by keys of their own and then
// [Index.Load] the few they show; [Index.Count] counts. [Index.Terms],
// [Index.Near] and [Index.DF] read the dictionary. [Index.Candidates] gives the
// files that may have a substring ([Literal]) or a match ([Regexp]).
//
// Any number of processes may write in a folder at once, each as an [Owner] of
// its own. Housekeeping: [MergePlan] says which segments to [Merge], and a
// [Sweep] removes what no kept manifest names and no owner at work has made.
//
// # Text
//
// A token is a maximal run of alphabetic or numeric characters ([Tokens]), in
// lower case; "_" separates. Queries use [Words], or [Fold] for one word. In a
// Content field a token belongs to every document in whose byte range it
// begins, with its whole text, even where it ends beyond. A Parts field has the
// parts of identifiers ([PartsOf]): humps of camelCase, runs of digits. A word
// without parts is in the source field only, so a search for a word in both
// fields is Or{Term{0, w}, Term{1, w}}.
//
// # Ranking
//
// Scores are BM25, see [BM25]: numbers of documents, document frequencies and
// lengths are exact and count live documents only, over all segments that are
// searched. An index with deleted files therefore answers exactly as one that
// was built without them; the price is that a segment with deletions has some
// postings of each term decoded once more (0.05 ms for a term in 35,000
// documents with a tenth of the files deleted). Field length counts the tokens that
// are indexed, not those of MaxToken bytes and more.
//
// # Format
//
// A segment is one file. Integers are little endian. Its header of 1,024 bytes
// is magic and version, u32 files, docs, fields, zero, u64 tokens and u8 width
// of a length for each of 16 fields, the table of sections {u64 offset, u64
// length, u32 CRC-32C, u32 zero}, and a CRC-32C of the header. The sections:
//
//	postings   per term: skip table, blocks of 128 documents, bit-packed
//	positions  per term: per document, position deltas
//	payload    of the documents
//	dict       blocks of 16 terms, prefix compressed; a key is field byte + term
//	dictIndex  u32 offset, u64 first 8 bytes of the first key, per block
//	names      u32 offset per file + 1, then the paths
//	files      u32 first document per file + 1, then the hashes
//	order      u32 file numbers by path, then u32 place of each file in that order
//	docs       u32 start, u32 end per document
//	lens       token counts of the documents, one array per field
//	attrs      u32 per document, one array per attribute
//	payIndex   u32 offset per document + 1, or nothing
//	triDict    blocks of 64 trigrams, delta coded
//	triIndex   u32 first trigram, u32 triDict offset, u32 triPost offset
//	triPost    per trigram: files as gaps or as a bitmap
//	schema     JSON
//
// A term in fewer than 128 documents has one block of uvarints: gap<<1, with
// the low bit set when the frequency is 1, else followed by it. Others have a
// skip entry per block {u32 last document, u32 block offset, u32 positions
// offset, two bounds {u16 frequency, u16 length}} and then the blocks: u8 width
// of gaps, u8 width of frequencies, 128 of each; the last partial block as
// above. Every document of a block has at most the frequency and at least the
// length of one of its bounds, so no score is kept in the file, and merging
// copies postings. No section may pass 4 GiB: that is ErrTooLarge.
//
// Everything read from a file is checked before it is used as an offset: damage
// gives ErrCorrupt, or results that are wrong in a way that only
// [Segment.Verify] finds. A mapped file that is cut short gives ErrCorrupt too.
// The index is derived data, so the cure is to build it again.
package index
