# CodeSage: `make demo` runs the main job, `make test` the tests; both set up
# what they need.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  := -X main.version=$(VERSION)
BINARY   := bin/codesage
FUZZTIME ?= 30s

.DEFAULT_GOAL := help
.PHONY: help build start start-backend demo test test-short test-browser screenshots lint bench bench-load fuzz up down soak install-claude clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/codesage (the grammars take some minutes the first time)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/codesage

start: build ## serve on http://127.0.0.1:8001
	$(BINARY) serve

start-backend: start ## the same, by the name that the bridge's messages use

demo: build ## index this tree and ask about it over MCP
	$(GO) run ./cmd/demo -binary $(BINARY) -data .cache/demo -folder .

test: ## run all tests, and the quick ones again with the race detector
	scripts/test

test-short: ## run the quick tests only
	$(GO) test -short ./...

test-browser: ## run the tests of the dashboard in a Chromium
	scripts/browser
	$(GO) test -count 1 -run '^TestABrowser' ./api ./cmd/codesage

screenshots: ## put pictures of the dashboard into .cache/screenshots
	scripts/browser
	CODESAGE_SCREENSHOTS='$(CURDIR)/.cache/screenshots' $(GO) test -count 1 -run '^TestScreenshots$$' ./cmd/codesage

lint: ## gofmt, vet and golangci-lint
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools.mod golangci-lint run ./...

up: ## start a team's server with docker compose
	scripts/up

down: ## stop it; what it holds stays in its volumes
	scripts/down

soak: ## kill and freeze the parts of a team's server for some minutes
	CODESAGE_SOAK=1 $(GO) test -timeout 30m -run 'TestATeam.*SurvivesKills|TestAFrozenWorker' -v ./cmd/codesage

bench-load: build ## ask a server with 200 clients for a minute
	BINARY=$(BINARY) bench/load

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## run every fuzz target for FUZZTIME each
	scripts/fuzz $(FUZZTIME)

install-claude: build ## let Claude Desktop start the bridge
	$(BINARY) install claude-desktop

clean: ## remove what the targets made
	rm -rf bin .cache
