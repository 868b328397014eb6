package gittest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The types with which a git server answers.
const (
	typeRefs = "application/x-git-upload-pack-advertisement"
	typePack = "application/x-git-upload-pack-result"
)

// capabilities are what the hostile hosts offer.
const capabilities = "side-band-64k shallow ofs-delta no-progress multi_ack_detailed symref=HEAD:refs/heads/main"

// Commit names what the hostile hosts have as their head when it does not
// matter what it is.
const Commit = "1234567890123456789012345678901234567890"

// pkt frames one line of git's protocol.
func pkt(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// advertise begins a list of references with main at a commit.
func advertise(w http.ResponseWriter, commit string) {
	w.Header().Set("Content-Type", typeRefs)
	_, _ = io.WriteString(w, pkt("# service=git-upload-pack\n")+"0000"+
		pkt(commit+" HEAD\x00"+capabilities+"\n")+pkt(commit+" refs/heads/main\n"))
}

// host is a git server made of two functions.
func host(refs, pack http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			refs(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", typePack)
		pack(w, r)
	})
}

// Pack is a host that has one commit and sends a given pack for it.
func Pack(commit string, pack []byte) http.Handler {
	return host(func(w http.ResponseWriter, _ *http.Request) {
		advertise(w, commit)
		_, _ = io.WriteString(w, "0000")
	}, func(w http.ResponseWriter, _ *http.Request) {
		startPack(w, commit)
		for rest := pack; len(rest) > 0; {
			n := min(len(rest), 65000)
			_, _ = io.WriteString(w, pkt("\x01"+string(rest[:n])))
			rest = rest[n:]
		}
		_, _ = io.WriteString(w, "0000")
	})
}

// startPack writes what comes before the pack.
func startPack(w io.Writer, commit string) {
	_, _ = io.WriteString(w, pkt("shallow "+commit+"\n")+"0000"+pkt("NAK\n"))
}

// EndlessRefs is a host whose list of references does not end. Their names have
// some length at least: whoever reads many short ones is busy for a while.
func EndlessRefs(length int) http.Handler {
	return host(func(w http.ResponseWriter, r *http.Request) {
		advertise(w, Commit)
		for i := 0; r.Context().Err() == nil; i++ {
			name := fmt.Sprintf("refs/heads/branch-%d", i)
			name += strings.Repeat("x", max(0, length-len(name)))
			if _, err := io.WriteString(w, pkt(Commit+" "+name+"\n")); err != nil {
				return
			}
		}
	}, http.NotFound)
}

// EndlessPack is a host whose pack does not end: a header that announces many
// objects, and then progress messages for ever, or blobs, as data says.
func EndlessPack(data []byte) http.Handler {
	return host(func(w http.ResponseWriter, _ *http.Request) {
		advertise(w, Commit)
		_, _ = io.WriteString(w, "0000")
	}, func(w http.ResponseWriter, r *http.Request) {
		startPack(w, Commit)
		_, _ = io.WriteString(w, pkt("\x01PACK\x00\x00\x00\x02\x00\x07\x00\x00"))
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, pkt(string(data))); err != nil {
				return
			}
		}
	})
}

// StalledPack is a host that begins a pack and then says nothing more.
func StalledPack() http.Handler {
	return host(func(w http.ResponseWriter, _ *http.Request) {
		advertise(w, Commit)
		_, _ = io.WriteString(w, "0000")
	}, func(w http.ResponseWriter, r *http.Request) {
		startPack(w, Commit)
		_, _ = io.WriteString(w, pkt("\x01PACK\x00\x00\x00\x02\x00\x00\x00\x09"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

// Stalled is a host that takes a request and never answers.
func Stalled() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// Redirect is a host that sends every request elsewhere: to, followed by the
// path and query of the request.
func Redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusMovedPermanently)
	})
}

// EndlessError is a host whose error message does not end.
func EndlessError(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("no ", 10000)); err != nil {
				return
			}
		}
	})
}
