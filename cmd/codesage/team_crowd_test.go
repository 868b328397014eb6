package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
	"codesage/pipeline/source/git/gittest"
	"codesage/search/algolia/algoliatest"
)

// crowd is a team's server with many repositories, of which there are two
// versions, and what an undisturbed server tells of each.
type crowd struct {
	*team
	apis, workers []*server
	out           outage
	engine        engine
	members       []member
	calm          [versions]time.Duration // in which an undisturbed server indexed them
}

// member is one repository of a crowd: a folder, or a git repository.
type member struct {
	name    string
	folder  string
	remote  *gittest.Repo // nil = a folder
	trees   [versions]tree
	commits [versions]string // of the remote
	ask     []question
	want    [versions]state

	id         codesage.RepositoryID
	api, other *server // its clients ask the one, and then the other
}

// versions is how many versions of its files a member has.
const versions = 2

// newCrowd asks an undisturbed server for both versions of some repositories of
// so many files each, and starts a team of two APIs and three workers. Every third
// repository is a git repository.
func newCrowd(t *testing.T, repositories, files int, engine engine) *crowd {
	t.Helper()
	c := &crowd{members: make([]member, repositories), engine: engine}
	hosts := gittest.New(t)
	for i := range c.members {
		m := &c.members[i]
		m.name = fmt.Sprintf("crowd%02d", i)
		for v := range m.trees {
			m.trees[v] = newTree(uint64(100+i), files, v+1)
		}
		if i%3 == 2 {
			m.publish(hosts)
		} else {
			m.folder = t.TempDir()
		}
		m.ask = questions(m.name, sharedPath(m.trees[0], m.trees[1]))
		for k := range m.ask {
			m.ask[k].tally = engine.isLoose && m.ask[k].tool == "search_code"
		}
	}
	c.undisturbed(t, engine.settings(t, hosts))
	c.team = newTeam(t, engine.settings(t, hosts)...)
	c.apis = []*server{c.start("api"), c.start("api")}
	c.workers = []*server{c.start("worker"), c.start("worker"), c.start("worker")}
	for i := range c.members {
		c.members[i].api, c.members[i].other = c.apis[i%2], c.apis[(i+1)%2]
	}
	return c
}

// engine is a search engine under which a crowd is indexed.
type engine struct {
	settings func(*testing.T, *gittest.Server) settings // of one that holds nothing, and of git hosts

	// During a refresh a search finds records of both versions, and hits that are
	// equally good have any order.
	isLoose bool
}

var (
	localEngine = engine{settings: gitSettings}

	algoliaEngine = engine{isLoose: true, settings: func(t *testing.T, hosts *gittest.Server) settings {
		fake := algoliatest.New(t, algoliatest.Options{})
		return append(append(algoliaSettings(t, fake), gitSettings(t, hosts)...), trusting(t, certificate(t, fake), hosts.CertificatePEM()))
	}}
)

// publish makes a member a git repository that has both versions.
func (m *member) publish(hosts *gittest.Server) {
	const host = "git.example.org"
	m.remote = hosts.Repo(host, "crowd/"+m.name)
	m.name = host + "/crowd/" + m.name
	for v, files := range m.trees {
		changes := gittest.Files(files)
		if v > 0 {
			for path := range m.trees[v-1] {
				if _, stays := files[path]; !stays {
					changes[path] = gittest.Change{Delete: true}
				}
			}
		}
		m.commits[v] = m.remote.Commit("main", changes)
	}
}

// begin starts to index a version.
func (m *member) begin(s *server, version int) {
	s.t.Helper()
	if m.remote == nil {
		m.trees[version].write(s.t, m.folder)
		m.id = s.add(m.folder, m.name).ID
		return
	}
	m.remote.Git("update-ref", "refs/heads/main", m.commits[version])
	var repo client.Repository
	var err error
	if version == 0 {
		repo, err = s.api.AddURL(context.Background(), client.URL{URL: m.remote.URL()})
	} else {
		repo, err = s.api.Reprocess(context.Background(), m.id)
	}
	if err != nil {
		s.t.Fatalf("index %s: %v", m.remote.URL(), err)
	}
	m.id = repo.ID
}

// undisturbed takes note of what a server that nothing happens to tells of each
// version.
func (c *crowd) undisturbed(t *testing.T, env settings) {
	t.Helper()
	s := newServer(t, env...)
	for v := range versions {
		began := time.Now()
		for i := range c.members {
			c.members[i].begin(s, v)
		}
		for i := range c.members {
			m := &c.members[i]
			if _, run := s.finish(m.id); run.Status != codesage.StatusCompleted {
				t.Fatalf("undisturbed, %s ended as %s: %s", m.name, run.Status, run.Error)
			}
			m.want[v] = readState(t, s, m.name, m.ask)
		}
		c.calm[v] = time.Since(began)
		t.Logf("version %d, undisturbed: %.1f s", v+1, c.calm[v].Seconds())
	}
	s.stop()
}

// begin starts to index a version of some members.
func (c *crowd) begin(version int, members []member) {
	c.t.Helper()
	for i := range members {
		members[i].begin(members[i].api, version)
	}
}

// pace is how long a reader of a crowd waits between two questions.
const pace = 50 * time.Millisecond

// watch starts a reader of each of some members, which have begun to become a
// version.
func (c *crowd) watch(version int, members []member) (all readers) {
	for _, m := range members {
		old, ask := unindexed, slices.Clone(m.ask)
		if version > 0 {
			old = m.want[version-1]
			for i := range ask {
				ask[i].open = ask[i].tally
			}
		}
		r := &reader{name: m.name, ask: ask, old: old, new: m.want[version], pace: pace, out: &c.out}
		all = append(all, r.watch(m.api))
	}
	return all
}

// readers are one for each member.
type readers []*reader

// end stops the readers and reports what they saw.
func (all readers) end(t testing.TB) {
	t.Helper()
	asked, turned := 0, 0
	for _, r := range all {
		r.end(t)
		asked, turned = asked+r.asked, turned+r.turned
	}
	t.Logf("readers asked %d times and were told %d times that the server is not available", asked, turned)
}

// finish waits until every member's run has completed, and returns the runs.
func (c *crowd) finish() (runs []client.Run) {
	c.t.Helper()
	for _, m := range c.members {
		_, run := m.api.finish(m.id)
		if run.Status != codesage.StatusCompleted {
			c.t.Errorf("%s ended as %s in attempt %d: %s", m.name, run.Status, run.Attempt, run.Error)
		}
		runs = append(runs, run)
	}
	return runs
}

// check compares what the team tells of a version with what an undisturbed server
// does.
func (c *crowd) check(version int) {
	c.t.Helper()
	for _, m := range c.members {
		checkState(c.t, readState(c.t, m.other, m.name, m.ask), m.want[version])
	}
}

// showLogs shows what the processes wrote, but for requests, when the test has
// failed.
func (c *crowd) showLogs() {
	if !c.t.Failed() {
		return
	}
	for _, s := range slices.Concat(c.apis, c.workers) {
		var text strings.Builder
		for line := range strings.Lines(s.log.text()) {
			if !strings.Contains(line, `"msg":"request"`) {
				text.WriteString(line)
			}
		}
		c.t.Logf("a log:\n%.20000s", text.String())
	}
}
