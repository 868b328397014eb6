package local

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
)

var update = flag.Bool("update", false, "write the golden files")

// rankingCorpus is a small web service as the pipeline would index it: type,
// name, path, line, signature, description, body.
const rankingCorpus = `
class     | Server               | server/server.go        | 12  | type Server struct {                                  | Go struct: Server                     | router *Router; store Store; log *slog.Logger
function  | Start                | server/server.go        | 30  | func (s *Server) Start(ctx context.Context) error {   | Go function: Server.Start             | listens on the address and serves http requests until the context is done
function  | Shutdown             | server/server.go        | 61  | func (s *Server) Shutdown(ctx context.Context) error { | Go function: Server.Shutdown         | drains the requests that are running, closes the listener
function  | TestServerStart      | server/server_test.go   | 9   | func TestServerStart(t *testing.T) {                  | Go function: TestServerStart          | starts a Server and asks for the health page | test
class     | Router               | server/router.go        | 8   | type Router struct {                                  | Go struct: Router                     | routes by method and path
function  | handleLogin          | server/login.go         | 14  | func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) { | Go function: Server.handleLogin | reads user and password from the request, checks them, sets a session cookie
function  | authenticate         | auth/auth.go            | 20  | func authenticate(user, pass string) (Session, error) { | Go function: authenticate            | finds the user in the store and compares the password hash
function  | authenticate_user    | scripts/login.py        | 5   | def authenticate_user(name, password):                | Python function: authenticate_user    | posts name and password to the login page
class     | Session              | auth/session.go         | 6   | type Session struct {                                 | Go struct: Session                    | token, user id, expiry
class     | SessionManager       | auth/session.go         | 22  | type SessionManager struct {                          | Go struct: SessionManager             | keeps sessions in memory, removes expired ones
function  | RefreshToken         | auth/token.go           | 40  | func (m *SessionManager) RefreshToken(old string) (string, error) { | Go function: SessionManager.RefreshToken | makes a new token when the old one has not expired
function  | hashPassword         | auth/hash.go            | 11  | func hashPassword(pass string) ([]byte, error) {      | Go function: hashPassword             | bcrypt with the default cost
function  | TestHashPassword     | auth/hash_test.go       | 10  | func TestHashPassword(t *testing.T) {                 | Go function: TestHashPassword         | hashPassword twice gives different hashes | test
class     | HTTPClient           | client/client.go        | 15  | type HTTPClient struct {                              | Go struct: HTTPClient                 | transport, timeout, redirect policy
function  | followRedirects      | client/redirect.go      | 9   | func (c *HTTPClient) followRedirects(req *Request) (*Response, error) { | Go function: HTTPClient.followRedirects | follows up to ten redirects of the server
function  | parseHTMLResponse    | client/parse.go         | 18  | func parseHTMLResponse(body io.Reader) (*Node, error) { | Go function: parseHTMLResponse       | reads html and builds a tree
function  | parseJSONNumber      | client/json.go          | 33  | func parseJSONNumber(s string) (float64, error) {     | Go function: parseJSONNumber          | a number as json has it
function  | retryWithBackoff     | client/retry.go         | 12  | func retryWithBackoff(ctx context.Context, do func() error) error { | Go function: retryWithBackoff | tries again with growing delays when a request failed
class     | Config               | config/config.go        | 10  | type Config struct {                                  | Go struct: Config                     | port, database url, timeout
function  | Load                 | config/config.go        | 44  | func Load(env func(string) string) (Config, error) {  | Go function: Load                     | reads the configuration from the environment and validates it
function  | validateConfig       | config/validate.go      | 7   | func validateConfig(c Config) error {                 | Go function: validateConfig           | port in range, url not empty
class     | ConfigLoader         | web/src/config.ts       | 3   | export class ConfigLoader {                           | TypeScript class: ConfigLoader        | load() fetches the config of the page
class     | StoreApi             | web/src/vanilla.ts      | 9   | export interface StoreApi<T> {                        | TypeScript interface: StoreApi        | setState, getState, subscribe
function  | createStore          | web/src/vanilla.ts      | 60  | export const createStore = (createState) => {         | TypeScript function: createStore      | makes a store and returns its api
function  | useStore             | web/src/react.ts        | 22  | export function useStore(api, selector) {             | TypeScript function: useStore         | subscribes a component to a store
function  | TestShallowWithState | web/tests/shallow.ts    | 31  | function TestShallowWithState() {                     | TypeScript function: TestShallowWithState | renders with state, compares shallow | test
import    | react                | web/src/react.ts        | 1   | import React from 'react'                             | TypeScript import: react              |
class     | Store                | store/store.go          | 14  | type Store interface {                                | Go interface: Store                   | users, sessions, repositories
function  | OpenDatabase         | store/sqlite.go         | 25  | func OpenDatabase(url string) (*DB, error) {          | Go function: OpenDatabase             | opens the database, checks its schema version
function  | MigrateSchema        | store/migrate.go        | 16  | func MigrateSchema(db *DB) error {                    | Go function: MigrateSchema            | runs the migrations that the database has not seen, in a transaction
function  | ListRepositories     | store/repos.go          | 19  | func (db *DB) ListRepositories(ctx context.Context) ([]Repository, error) { | Go function: DB.ListRepositories | select from repositories order by id
class     | RepositoryService    | services/repo.py        | 11  | class RepositoryService:                              | Python class: RepositoryService       | add, list and remove repositories
function  | add_repository       | services/repo.py        | 30  | def add_repository(self, url):                        | Python function: RepositoryService.add_repository | checks the url, clones and queues the indexing
function  | clone_repository     | services/git.py         | 8   | def clone_repository(url, path):                      | Python function: clone_repository     | runs git clone with a depth of one
terraform_block | resource.aws_instance.web | infra/main.tf | 1   | resource "aws_instance" "web" {                       | Terraform block: resource.aws_instance.web | instance_type = "t3.micro"
terraform_block | variable.region | infra/vars.tf           | 1   | variable "region" {                                   | Terraform block: variable.region      | default = "eu-west-1"
doc_section | Installation       | README.md               | 12  | ## Installation                                       | Markdown section: CodeSage > Installation | Install with go install, then run codesage serve
doc_section | Configuration      | README.md               | 40  | ## Configuration                                      | Markdown section: CodeSage > Configuration | Every variable of the environment: port, database url, log level
doc_section | Deploy with Docker | docs/deploy.md          | 3   | # Deploy with Docker                                  | Markdown section: Deploy with Docker  | docker compose up starts the server, the worker and the database
`

var rankingQueries = []string{
	"server", "Server", "start server", "session", "SessionManager", "session manager", "authenticate", "autenticate user",
	"login password", "config", "load config", "validate configs", "WithState", "store", "create store", "parse html",
	"parse json number", "repositories", "repository service", "aws instance", "react", "hash password", "token", "red",
	"how does the http client follow redirects", "where are passwords hashed", "how do I install and configure it",
	"what happens when a request fails and is retried", "where is the database schema migrated", "how to deploy the server with docker",
	"std::map<int, Session>", "exire token",
	"Server.Start", "server.start", "(*Server).Shutdown", "auth.Session", "SessionManager#RefreshToken", "client::HTTPClient", "http.Client",
	"services/repo.RepositoryService", "RepositoryService.add_repository", "DB->ListRepositories", "config.Load", "what calls config.Load",
	"aws_instance.web", "Store.Of", "session user", "user session", "server login", "hash test password",
}

func rankingRecords(t *testing.T) map[string][]search.Record {
	files := map[string][]search.Record{}
	for line := range strings.Lines(rankingCorpus) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) < 7 {
			continue
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		var at int
		if _, err := fmt.Sscan(f[3], &at); err != nil {
			t.Fatal(err)
		}
		r := search.Record{EntityType: codesage.EntityType(f[0]), EntityName: f[1], FilePath: f[2], LineStart: at, LineEnd: at + 9,
			Signature: f[4], Description: f[5], Content: f[4] + "\n" + f[6], RankWeight: codesage.EntityType(f[0]).RankWeight()}
		if len(f) > 7 && f[7] == "test" {
			r.IsTest = 1
		}
		files[r.FilePath] = append(files[r.FilePath], r)
	}
	return files
}

// TestRanking keeps the order of hits of real-looking queries. Look at what
// changes before you accept it with -update.
func TestRanking(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	at := codesage.Snapshot{Repository: 1, Run: 1}
	w, err := x.Begin(t.Context(), codesage.Repository{ID: 1}, 0, codesage.Run{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	for path, records := range rankingRecords(t) {
		if err := w.Put(t.Context(), path, 0, records); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, text := range rankingQueries {
		r, err := x.Search(t.Context(), search.Query{Text: text, Scope: []codesage.Snapshot{at}, Limit: 8})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s (%d)\n", text, r.TotalHits)
		for _, h := range r.Hits {
			fmt.Fprintf(&b, "    %s %s:%d\n", h.EntityName, h.FilePath, h.LineStart)
		}
	}
	const golden = "testdata/ranking.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("the ranking differs from %s; run with -update and compare. Got:\n%s", golden, got)
	}
}
