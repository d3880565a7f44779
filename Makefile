# Drawbridge. `make help` lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO     ?= go
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
ID     := io.github.drawbridge_mcp.drawbridge

# The toolkit reads the locale and complains about C.
export LANG := $(if $(filter-out C C.UTF-8 POSIX,$(LANG)),$(LANG),en_US.UTF-8)

PEERS     := core/internal/peers
PEER_BINS := ./gosdk-server ./gosdk-client ./gosdk-bench ./mcpgo-server
NPM       := $(PEERS)/npm
TOOL      := $(GO) tool -modfile=.ci/tools/go.mod

# What the tests run in: foreign peers and a keyring must be there, no keyring or
# display of the person's is touched, and the end-to-end run has its binary.
TEST_ENV := env -u DISPLAY -u WAYLAND_DISPLAY \
	DBUS_SESSION_BUS_ADDRESS=disabled: \
	DRAWBRIDGE_PEERS=$(CURDIR)/build/peers \
	DRAWBRIDGE_REQUIRE_PEERS=1 \
	DRAWBRIDGE_REQUIRE_KEYRING=1 \
	DRAWBRIDGE_REQUIRE_DISPLAY=1

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: setup build ## install what is missing, build, open the window (ARGS='--config FILE' …)
	@if [ -z "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ]; then \
		echo "There is no display here: starting without a window (drawbridge serve)."; \
		exec build/drawbridge $(ARGS) serve; \
	else \
		exec build/drawbridge $(ARGS); \
	fi

.PHONY: setup
setup:
	@.ci/setup

.PHONY: build
build: ## build build/drawbridge
	@mkdir -p build
	$(GO) build -o build/drawbridge .

.PHONY: test
test: setup-test peers build-race ## run every test, the real window under Xvfb included
	$(TEST_ENV) DRAWBRIDGE_BINARY=$(CURDIR)/build/drawbridge-race $(GO) test -race -timeout 20m ./...
	cd $(PEERS) && $(GO) test ./...
	$(TEST_ENV) .ci/fuzz 1s

.PHONY: fuzz
fuzz: ## fuzz every target for longer (TIME=30s each)
	$(TEST_ENV) .ci/fuzz $(or $(TIME),30s)

.PHONY: setup-test
setup-test:
	@.ci/setup test

# With the race detector, like the tests: one cold build of the toolkit for both.
.PHONY: build-race
build-race:
	@mkdir -p build
	$(GO) build -race -o build/drawbridge-race .

.PHONY: peers
peers: peers-go $(NPM)/node_modules/.package-lock.json ## build and install the foreign servers that tests run against

.PHONY: peers-go
peers-go:
	@mkdir -p build/peers
	cd $(PEERS) && $(GO) build -o $(CURDIR)/build/peers/ $(PEER_BINS)

$(NPM)/node_modules/.package-lock.json: $(NPM)/package.json $(NPM)/package-lock.json
	cd $(NPM) && npm ci --loglevel=error
	@touch $@

.PHONY: lint
lint: ## check format, vet, staticcheck and the direction of imports
	@unformatted="$$($(TOOL) gofumpt -l $$(git ls-files --cached --others --exclude-standard '*.go'))"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	CGO_ENABLED=0 $(GO) vet -tags ci ./...
	GOOS=windows CGO_ENABLED=0 $(GO) vet -tags ci ./...
	cd $(PEERS) && CGO_ENABLED=0 $(GO) vet ./...
	CGO_ENABLED=0 $(TOOL) staticcheck -tags ci -checks inherit,ST1020,ST1021,ST1022 ./...
	CGO_ENABLED=0 $(GO) test -tags ci -count=1 ./core/internal/arch

.PHONY: bench
bench: peers-go ## compare our client with the Go SDK's (BENCH='-rounds 3 -only calls' …)
	@mkdir -p build/bench
	$(GO) build -o build/bench/ ./core/internal/bench/client ./core/internal/bench/run
	@build/bench/run -ours build/bench/client -theirs build/peers/gosdk-bench -server build/peers/gosdk-server $(BENCH)

.PHONY: microbench
microbench: ## run the benchmarks of the packages
	$(TEST_ENV) $(GO) test -run '^$$' -bench . -benchmem ./core/... ./secrets/...

.PHONY: soak
soak: ## keep 200 sessions busy while their servers die, for five minutes (TIME=30s)
	$(TEST_ENV) DRAWBRIDGE_SOAK=$(or $(TIME),5m) $(GO) test -count=1 -timeout 1h -v -run '^TestSoak$$' ./core/internal/soak

.PHONY: conformance-client
conformance-client: $(NPM)/node_modules/.package-lock.json ## run the official suite against the client
	@mkdir -p build/conformance
	$(GO) build -o build/conformance/client ./core/internal/conformance/client
	@$(GO) run ./core/internal/conformance/run client build/conformance/client

.PHONY: conformance-server
conformance-server: $(NPM)/node_modules/.package-lock.json ## run the official suite against the demo server
	@$(GO) run -race ./core/internal/conformance/run server

.PHONY: screenshots
screenshots: setup-test build ## take the pictures of the documentation from the real window
	@mkdir -p docs/images
	$(TEST_ENV) DRAWBRIDGE_BINARY=$(CURDIR)/build/drawbridge DRAWBRIDGE_SCREENSHOTS=$(CURDIR)/docs/images \
		$(GO) test -count=1 -timeout 20m -run 'TestTheList|TestNewcomer' ./core/internal/e2e

.PHONY: install
install: setup build ## install below PREFIX: /usr/local as root, ~/.local otherwise
	install -Dm755 build/drawbridge $(DESTDIR)$(PREFIX)/bin/drawbridge
	install -Dm644 assets/icon.svg $(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/$(ID).svg
	install -Dm644 assets/icon.png $(DESTDIR)$(PREFIX)/share/icons/hicolor/512x512/apps/$(ID).png
	install -d $(DESTDIR)$(PREFIX)/share/applications
	sed 's|@BINDIR@|$(PREFIX)/bin|' assets/$(ID).desktop > $(DESTDIR)$(PREFIX)/share/applications/$(ID).desktop
	chmod 644 $(DESTDIR)$(PREFIX)/share/applications/$(ID).desktop
	@$(refresh-desktop)

.PHONY: uninstall
uninstall: ## remove what install put there; servers.json and secrets stay
	rm -f $(DESTDIR)$(PREFIX)/bin/drawbridge \
		$(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/$(ID).svg \
		$(DESTDIR)$(PREFIX)/share/icons/hicolor/512x512/apps/$(ID).png \
		$(DESTDIR)$(PREFIX)/share/applications/$(ID).desktop
	@$(refresh-desktop)

# Menus and icon caches notice by themselves in time; ask where that can be done.
define refresh-desktop
if [ -z "$(DESTDIR)" ]; then \
	if command -v update-desktop-database >/dev/null; then update-desktop-database -q $(PREFIX)/share/applications || true; fi; \
	if command -v gtk-update-icon-cache >/dev/null; then gtk-update-icon-cache -qt $(PREFIX)/share/icons/hicolor || true; fi; \
fi
endef

.PHONY: clean
clean: ## remove what was built and the peers from npm
	rm -rf build $(NPM)/node_modules
