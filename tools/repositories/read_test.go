package repositories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/store"
)

const vanilla = "type SetStateInternal<T> = {\n  _(\n    partial: T,\n  ): void\n}\nconst createStoreImpl = (createState) => {\n  return 1\n}\n"

// zustand is a small repository with definitions.
func zustand(w *world) codesage.Repository {
	return w.published(git("pmndrs/zustand"),
		codesage.Outcome{Language: "typescript", Framework: "react", Progress: codesage.Progress{Commit: strings.Repeat("ab", 20)}},
		file{"README.md", "markdown", "# Zustand\n\nBears\n", []codesage.Entity{
			{Type: codesage.EntityDocSection, Name: "Zustand", Description: "Markdown section: Zustand", LineStart: 1, LineEnd: 3, Signature: "# Zustand"},
		}},
		file{"src/vanilla.ts", "typescript", vanilla, []codesage.Entity{
			{Type: codesage.EntityClass, Name: "SetStateInternal", Description: "TypeScript type: SetStateInternal", Signature: "type SetStateInternal<T> = {", LineStart: 1, LineEnd: 5},
			{Type: codesage.EntityFunction, Name: "createStoreImpl", Description: "TypeScript function: createStoreImpl",
				Signature: "const createStoreImpl = (createState) => {", LineStart: 6, LineEnd: 8},
		}},
		file{"src/x.ts", "typescript", "import 'react'\n", []codesage.Entity{{Type: codesage.EntityImport, Name: "react", LineStart: 1, LineEnd: 1}}},
	)
}

func TestListRepositoriesShowsEveryState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("list_repositories", `{}`, `{"repositories":[]}`)
	done := zustand(w)
	_, run, err := w.store.CreateRepository(t.Context(), git("octo/broken"))
	w.must(err)
	run, err = w.store.StartRun(t.Context(), run.ID, time.Hour)
	w.must(err)
	w.must(w.store.FailRun(t.Context(), run, codesage.Progress{}, "no space"))
	failed, err := w.store.Repository(t.Context(), run.Repository)
	w.must(err)
	_, _, err = w.store.CreateRepository(t.Context(), codesage.Repository{Name: "app", Session: "app", Source: codesage.SourceFolder, Path: "/w/app"})
	w.must(err)
	w.want("list_repositories", `{}`, fmt.Sprintf(`{"repositories":[
		{"id":1,"name":"pmndrs/zustand","url":"https://github.com/pmndrs/zustand","branch":null,"commit_sha":"%s","status":"completed",
		 "total_files":3,"total_entities":4,"error_message":null,"processed_at":"%s"},
		{"id":2,"name":"octo/broken","url":"https://github.com/octo/broken","branch":null,"commit_sha":null,"status":"failed",
		 "total_files":0,"total_entities":0,"error_message":"no space","processed_at":"%s"},
		{"id":3,"name":"app","url":null,"branch":null,"commit_sha":null,"status":"pending",
		 "total_files":0,"total_entities":0,"error_message":null,"processed_at":null}]}`,
		strings.Repeat("ab", 20), isoTime(done.ProcessedAt()), isoTime(failed.ProcessedAt())))
	w.want("list_repositories", `{"x":1}`, "error: Invalid arguments for 'list_repositories': x: Extra inputs are not permitted")
}

func TestTimesArePrintedAsPythonDoes(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]time.Time{
		"":                                 {},
		"2026-10-26T23:32:50.170474+00:00": time.Date(2026, 10, 26, 23, 32, 50, 170474999, time.UTC),
		"2026-10-26T14:03:11+00:00":        time.Date(2026, 10, 26, 16, 3, 11, 999, time.FixedZone("", 7200)),
		"2026-10-26T14:03:11.000001+00:00": time.Date(2026, 10, 26, 14, 3, 11, 1000, time.UTC),
	} {
		if got := isoTime(at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestToolsRefuseWhatIsNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := map[string]string{
		"search_code": `,"query":"x"`, "get_file": `,"path":"a"`, "list_definitions": "", "analyze_repository": "", "find_patterns": `,"pattern":"x"`,
	}
	for tool, more := range calls {
		w.want(tool, `{"repository":"nope"`+more+`}`, "error: Repository 'nope' not found. Available repositories: none indexed yet")
	}
	_, run, err := w.store.CreateRepository(t.Context(), git("octo/demo"))
	w.must(err)
	for tool, more := range calls {
		w.want(tool, `{"repository":"octo/demo"`+more+`}`, "error: Repository 'octo/demo' is still indexing; try again when it completes")
		w.want(tool, `{"repository":"nope"`+more+`}`, "error: Repository 'nope' not found. Available repositories: octo/demo")
	}
	run, err = w.store.StartRun(t.Context(), run.ID, time.Hour)
	w.must(err)
	w.must(w.store.Report(t.Context(), run, codesage.Progress{Phase: codesage.PhaseText, TotalFiles: 400, ProcessedFiles: 120}))
	w.want("analyze_repository", `{"repository":"1"}`, "error: Repository 'octo/demo' is still indexing (120/400 files); try again when it completes")
	w.must(w.store.FailRun(t.Context(), run, codesage.Progress{}, "no space"))
	got := w.answer("analyze_repository", `{"repository":"OCTO/demo"}`)
	if !strings.HasPrefix(got, "error: Repository 'octo/demo' failed to index: no space. Reprocess it from the dashboard") {
		t.Errorf("got %q", got)
	}
}

func TestARefreshIsServedFromThePublishedIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := zustand(w)
	before := w.answer("analyze_repository", `{"repository":"1"}`)
	run, err := w.store.CreateRun(t.Context(), store.NewRun{Repository: repo.ID, Trigger: codesage.TriggerReprocess})
	w.must(err)
	run, err = w.store.StartRun(t.Context(), run.ID, time.Hour)
	w.must(err)
	w.must(w.store.Report(t.Context(), run, codesage.Progress{TotalFiles: 9, ProcessedFiles: 1, Commit: strings.Repeat("cd", 20)}))
	if got := w.answer("list_repositories", `{}`); !strings.Contains(got, `"status": "processing"`) || !strings.Contains(got, `"total_files": 9`) {
		t.Errorf("the list does not show the run: %s", got)
	}
	if got := w.answer("analyze_repository", `{"repository":"1"}`); got != before {
		t.Errorf("got %s\nwant %s", got, before)
	}
	if got := w.answer("search_code", `{"query":"createStoreImpl"}`); !strings.Contains(got, "/blob/"+strings.Repeat("ab", 20)+"/") {
		t.Errorf("links are not those of the published commit: %s", got)
	}
}

func TestGetFileNumbersLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zustand(w)
	w.want("get_file", `{"repository":"pmndrs/zustand","path":"./src/vanilla.ts","start_line":1,"end_line":3}`,
		`{"repository":"pmndrs/zustand","path":"src/vanilla.ts","language":"typescript","total_lines":8,"start_line":1,"end_line":3,"truncated":false,
		"content":"   1| type SetStateInternal<T> = {\n   2|   _(\n   3|     partial: T,"}`)
	w.want("get_file", `{"repository":"1","path":"src/vanilla.ts","start_line":"8","end_line":99}`,
		`{"repository":"pmndrs/zustand","path":"src/vanilla.ts","language":"typescript","total_lines":8,"start_line":8,"end_line":8,"truncated":false,
		"content":"   8| }"}`)
	for args, want := range map[string]string{
		`"path":"src/vanila.ts"`:                                "File 'src/vanila.ts' not found in pmndrs/zustand. Close paths: src/vanilla.ts, src/x.ts",
		`"path":"zzzzzzzz"`:                                     "File 'zzzzzzzz' not found in pmndrs/zustand.",
		`"path":"SRC/VANILLA"`:                                  "File 'SRC/VANILLA' not found in pmndrs/zustand.",
		`"path":"src/vanilla.ts","start_line":500`:              "start_line 500 is past the end of the file (8 lines)",
		`"path":"src/vanilla.ts","start_line":5,"end_line":4`:   "end_line must not be before start_line",
		`"path":"src/vanilla.ts","start_line":"9","end_line":1`: "start_line 9 is past the end of the file (8 lines)",
		`"path":"src/vanilla.ts","start_line":0`:                "Invalid arguments for 'get_file': start_line: Input should be greater than or equal to 1",
		`"path":7`:                                              "Invalid arguments for 'get_file': path: Input should be a valid string",
		`"x":7`:                                                 "Invalid arguments for 'get_file': path: Field required; x: Extra inputs are not permitted",
	} {
		w.want("get_file", `{"repository":"1",`+args+`}`, "error: "+want)
	}
	w.want("get_file", `{}`, "error: Invalid arguments for 'get_file': repository: Field required; path: Field required")
	if got := w.answer("get_file", `{"repository":"1","path":"src/vanilla.ts","start_line":null,"end_line":null}`); !strings.Contains(got, `"end_line": 8`) {
		t.Errorf("null lines: got %s", got)
	}
}

func TestGetFileLeavesTheRepositoryToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.published(codesage.Repository{Name: "app", Session: "app", Source: codesage.SourceFolder, Path: "/w/app"}, codesage.Outcome{},
		file{"ok.go", "go", "package ok\n", nil})
	for _, path := range []string{
		"../app-secret/key.txt", "/w/app-secret/key.txt", "leak.go", "d/key.txt", "ok.go/../../app-secret/key.txt",
		`ok.go\u0000.txt`, "%2e%2e/app-secret/key.txt", "....//app-secret/key.txt", "././ok.go",
	} {
		if got := w.answer("get_file", `{"repository":"app","path":"`+path+`"}`); !strings.HasPrefix(got, "error: File '") {
			t.Errorf("%s: got %s", path, got)
		}
	}
	for _, path := range []string{"ok.go", "./ok.go"} {
		if got := w.answer("get_file", `{"repository":"app","path":"`+path+`"}`); !strings.Contains(got, "package ok") {
			t.Errorf("%s: got %s", path, got)
		}
	}
}

func TestGetFileKeepsItsLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wide := strings.Repeat("é", 999) + "\n"
	w.published(git("octo/demo"), codesage.Outcome{},
		file{"many.txt", "text", strings.Repeat("x\n", 12_345), nil},
		file{"wide.txt", "text", strings.Repeat(wide, 300), nil},
		file{"one.txt", "text", strings.Repeat("é", 200_000) + "\nlast", nil},
		file{"empty.go", "go", "", nil},
		file{"odd.py", "python", "a = \"\x0c\"\r\nb = \"\u2028\"\ndef third(): pass", nil},
	)
	read := func(path string, more string) fileResult {
		return decode[fileResult](w, "get_file", fmt.Sprintf(`{"repository":"1","path":%q%s}`, path, more))
	}
	for _, tc := range []struct {
		path, more                string
		total, start, end, length int
		truncated                 bool
	}{
		{"many.txt", "", 12_345, 1, 400, 400*7 + 399, true},
		{"many.txt", `,"start_line":401,"end_line":800`, 12_345, 401, 800, 400*7 + 399, false},
		{"many.txt", `,"start_line":401,"end_line":801`, 12_345, 401, 800, 400*7 + 399, true},
		{"many.txt", `,"start_line":12000`, 12_345, 12_000, 12_345, 346*8 + 345, false},
		{"wide.txt", "", 300, 1, 99, 99*1005 + 98, true},
		{"wide.txt", `,"start_line":100,"end_line":101`, 300, 100, 101, 2*1005 + 1, false},
		{"one.txt", "", 2, 1, 1, 100_000, true},
		{"one.txt", `,"start_line":2`, 2, 2, 2, 10, false},
		{"empty.go", "", 0, 1, 0, 0, false},
	} {
		got := read(tc.path, tc.more)
		length := len([]rune(got.Content))
		if got.TotalLines != tc.total || got.StartLine != tc.start || got.EndLine != tc.end || length != tc.length || got.Truncated != tc.truncated {
			t.Errorf("%s%s: got %d lines, %d to %d, %d characters, truncated %v; want %d, %d to %d, %d, %v", tc.path, tc.more,
				got.TotalLines, got.StartLine, got.EndLine, length, got.Truncated, tc.total, tc.start, tc.end, tc.length, tc.truncated)
		}
	}
	if got, want := read("odd.py", "").Content, "   1| a = \"\x0c\"\n   2| b = \"\u2028\"\n   3| def third(): pass"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.want("get_file", `{"repository":"1","path":"empty.go","start_line":2}`, "error: start_line 2 is past the end of the file (0 lines)")
}

func TestListDefinitionsFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zustand(w)
	w.want("list_definitions", `{"repository":"1","path_prefix":"src/vanilla","limit":1}`,
		`{"repository":"pmndrs/zustand","total":2,"definitions":[{"entity_type":"class","entity_name":"SetStateInternal","file_path":"src/vanilla.ts",
		"line_start":1,"line_end":5,"signature":"type SetStateInternal<T> = {","description":"TypeScript type: SetStateInternal"}]}`)
	w.want("list_definitions", `{"repository":"1","entity_type":"import"}`,
		`{"repository":"pmndrs/zustand","total":1,"definitions":[{"entity_type":"import","entity_name":"react","file_path":"src/x.ts",
		"line_start":1,"line_end":1,"signature":null,"description":null}]}`)
	for args, total := range map[string]int{
		``: 4, `,"name":"STORE"`: 1, `,"name":"%"`: 0, `,"path_prefix":"src/*"`: 0, `,"name":"","path_prefix":"","entity_type":""`: 4,
		`,"path_prefix":"README"`: 1, `,"entity_type":"function","name":"impl"`: 1, `,"limit":"500"`: 4,
	} {
		if got := decode[definitionsResult](w, "list_definitions", `{"repository":"1"`+args+`}`); got.Total != total {
			t.Errorf("%s: got %d, want %d", args, got.Total, total)
		}
	}
	w.want("list_definitions", `{"repository":"1","limit":501,"entity_type":"x"}`, "error: Invalid arguments for 'list_definitions': "+
		"entity_type: Input should be 'function', 'class', 'import', 'doc_section' or 'terraform_block'; limit: Input should be less than or equal to 500")
}

func TestListDefinitionsCutsAndCountsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("package big\n")
	big := file{path: "big.go", language: "go"}
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&b, "func F%d() {}\n", i)
		big.entities = append(big.entities, codesage.Entity{Type: codesage.EntityFunction, Name: fmt.Sprintf("F%d", i), LineStart: i + 1, LineEnd: i + 1,
			Signature: strings.Repeat("é", 301), Description: strings.Repeat("ü", 301)})
	}
	big.text = b.String()
	w.published(git("octo/demo"), codesage.Outcome{}, big)
	got := decode[definitionsResult](w, "list_definitions", `{"repository":"1"}`)
	if got.Total != 5000 || len(got.Definitions) != 100 {
		t.Errorf("got %d of %d, want 100 of 5000", len(got.Definitions), got.Total)
	}
	if d := got.Definitions[0]; *d.Signature != strings.Repeat("é", 300) || *d.Description != strings.Repeat("ü", 300) {
		t.Errorf("not cut at 300 characters: %d, %d", len([]rune(*d.Signature)), len([]rune(*d.Description)))
	}
	for name, line := range map[string]int{"F4097": 4098, "F5000": 5001} {
		got := decode[definitionsResult](w, "list_definitions", `{"repository":"1","name":"`+name+`"}`)
		if got.Total != 1 || got.Definitions[0].LineStart != line {
			t.Errorf("%s: got %+v, want line %d", name, got, line)
		}
	}
}

func TestAnalyzeRepositoryCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zustand(w)
	w.want("analyze_repository", `{"repository":"pmndrs/zustand"}`, `{"repository":"pmndrs/zustand","repository_id":1,"status":"completed",
		"total_files":3,"processed_files":3,"total_lines":12,"total_entities":4,
		"entities_by_type":{"class":1,"doc_section":1,"function":1,"import":1},"files_by_language":{"markdown":1,"typescript":2},
		"language":"typescript","framework":"react",
		"top_directories":[{"directory":"src","files":2},{"directory":"(root)","files":1}],
		"largest_files":[{"file_path":"src/vanilla.ts","line_count":8},{"file_path":"README.md","line_count":3},{"file_path":"src/x.ts","line_count":1}],
		"definitions_by_language":{"markdown":1,"typescript":3}}`)
	w.published(git("octo/empty"), codesage.Outcome{})
	w.want("analyze_repository", `{"repository":2}`, "error: Invalid arguments for 'analyze_repository': repository: Input should be a valid string")
	w.want("analyze_repository", `{"repository":"2"}`, `{"repository":"octo/empty","repository_id":2,"status":"completed",
		"total_files":0,"processed_files":0,"total_lines":0,"total_entities":0,"entities_by_type":{},"files_by_language":{},"language":null,"framework":null,
		"top_directories":[],"largest_files":[],"definitions_by_language":{}}`)
}

func TestAnalyzeRepositoryShowsTenOfEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var files []file
	for i := range 12 {
		files = append(files, file{fmt.Sprintf("d%02d/a.go", i), "", strings.Repeat("x\n", i), []codesage.Entity{{Type: codesage.EntityFunction, Name: "f", LineStart: 1, LineEnd: 1}}})
	}
	w.published(git("octo/demo"), codesage.Outcome{}, files...)
	got := decode[analysisResult](w, "analyze_repository", `{"repository":"1"}`)
	if len(got.TopDirectories) != 10 || len(got.LargestFiles) != 10 || got.LargestFiles[0] != (fileLines{"d11/a.go", 11}) {
		t.Errorf("got %+v %+v", got.TopDirectories, got.LargestFiles)
	}
	if got.DefinitionsByLanguage["unknown"] != 12 {
		t.Errorf("got %v, want all under unknown", got.DefinitionsByLanguage)
	}
}

func TestAddRepositoryStartsARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("add_repository", `{"url":"https://github.com/octo/demo","branch":"","description":"mine"}`,
		`{"repository_id":1,"name":"octo/demo","status":"pending","message":"Indexing started; check list_repositories for progress."}`)
	repo, err := w.store.Repository(t.Context(), 1)
	if err != nil || repo.Description != "mine" || repo.Branch != "" {
		t.Errorf("got %+v %v", repo, err)
	}
	w.want("add_repository", `{"url":"https://github.com/OCTO/demo"}`, "error: octo/demo is already added as repository 1.")
	w.want("add_repository", `{"url":"ftp://x"}`, "error: url: Invalid repository URL (only https is supported): ftp://x")
	w.want("add_repository", `{"url":"https://github.com/octo/missing"}`,
		"error: GitHub repository octo/missing was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access.")
	w.want("add_repository", `{"url":"","branch":"`+strings.Repeat("b", 101)+`","x":1}`, "error: Invalid arguments for 'add_repository': "+
		"url: String should have at least 1 character; branch: String should have at most 100 characters; x: Extra inputs are not permitted")
	d := w.set.Deps
	d.Engine = nil
	w.use(d)
	w.want("add_repository", `{"url":"https://github.com/octo/next"}`,
		"error: Search indexing is not configured on the server (Algolia credentials are missing).")
	if all, err := w.store.ListRepositories(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("refused calls left %d repositories, %v", len(all), err)
	}
}
