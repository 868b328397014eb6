// Package codesage is the domain of the code index: repositories, the runs
// that index them, the files, entities and chunks found in them, and the kinds
// of failure that all parts share. It imports the standard library only; every
// other package of the program imports this one.
//
// A repository is one indexed source tree: a git URL or a local folder. A run
// is one attempt to index it. A run writes beside what is published and becomes
// visible in one step, when the store moves the repository's published-run
// pointer. Readers take that pointer once per request, as a Snapshot, and use
// the rows and the search manifest of that run only.
//
// Values of this package are plain data. They are not safe for concurrent
// mutation; they are safe to read and to copy.
package codesage
