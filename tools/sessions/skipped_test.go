package sessions_test

import (
	"testing"

	"codesage"
	"codesage/tools/sessions"
)

func TestReindexAndUpgradeNameSkippedFiles(t *testing.T) {
	t.Parallel()
	version := 3
	h := newHouse(t, func(d *sessions.Deps) { d.Schema = func(codesage.Repository) int { return version } })
	root := tree(t, map[string]string{"a.go": "package a\n", "bad.bin": "\xff\xfe\x00\x41"})
	h.call("index_repository", args{"path": root, "session": "g"})
	h.settle()
	const statistics = "**Indexing Statistics:**\n- Files indexed: 1\n- Chunks created: 1\n- Index size: <size>\n- Duration: <s>s\n" +
		"- Throughput: <n> files/sec\n\n**Files skipped:** 1\n- bad.bin: binary\n\n"
	like(t, h.call("reindex_session", args{"session": "g", "force": true}), "# Session Re-Indexed: `g`\n\n"+statistics+
		"**Note:** Session metadata (repository_path, last_indexed_at) updated automatically.")
	h.settle()
	version = 2
	like(t, h.call("upgrade_session", args{"session": "g"}), "# Session Upgraded: `g`\n\n**Schema Migration:**\n- Previous version: v2\n- Current version: v3\n\n"+
		statistics+"Session is now compatible with the current schema.")
}
