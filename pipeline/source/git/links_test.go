package git

import "testing"

func TestLinksOfTheThreeHosts(t *testing.T) {
	t.Parallel()
	const sha = "0123456789012345678901234567890123456789"
	for _, tc := range []struct{ url, ref, path, want string }{
		{"https://github.com/octo/demo", sha, "src/a.go", "https://github.com/octo/demo/blob/" + sha + "/src/a.go#L3-L9"},
		{"https://github.com/octo/demo", "", "a b/c#d?e%.go", "https://github.com/octo/demo/blob/HEAD/a%20b/c%23d%3Fe%25.go#L3-L9"},
		{"https://github.com/octo/demo", "feature/x", "ä.go", "https://github.com/octo/demo/blob/feature/x/%C3%A4.go#L3-L9"},
		{"https://gitlab.com/g/s/p", sha, "a.go", "https://gitlab.com/g/s/p/-/blob/" + sha + "/a.go#L3-9"},
		{"https://gitlab.example.org/g/p", sha, "a.go", "https://gitlab.example.org/g/p/-/blob/" + sha + "/a.go#L3-9"},
		{"https://bitbucket.org/t/r", sha, "a.go", "https://bitbucket.org/t/r/src/" + sha + "/a.go#lines-3:9"},
		{"https://git.example.org/o/r", sha, "a.go", ""},
		{"https://mygitlab.example.org/o/r", sha, "a.go", ""},
		{"", sha, "a.go", ""},
	} {
		if got := Link(tc.url, tc.ref, tc.path, 3, 9); got != tc.want {
			t.Errorf("Link(%q, %q, %q):\n got %s\nwant %s", tc.url, tc.ref, tc.path, got, tc.want)
		}
	}
}
