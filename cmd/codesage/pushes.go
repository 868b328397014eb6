package main

import (
	"net/http"

	"codesage/webhook"
	"codesage/worker"
)

// refresher returns what follows the branches of git repositories; nil when
// neither REFRESH_INTERVAL nor WEBHOOK_SECRET is set. With webhooks alone it
// finds the pushes that came while a run was at work or no server was up.
func (p *parts) refresher() *worker.Refresher {
	if p.config.RefreshInterval <= 0 && p.config.WebhookSecret == "" {
		return nil
	}
	return worker.NewRefresher(worker.RefresherOptions{
		Store:    p.store,
		Heads:    p.hosts,
		Catalog:  p.catalog,
		Claims:   p.queue,
		Log:      p.log,
		Interval: p.config.RefreshInterval,
	})
}

// webhooks returns the handler of push events; nil without WEBHOOK_SECRET.
func (p *parts) webhooks() http.Handler {
	if p.config.WebhookSecret == "" {
		return nil
	}
	return webhook.New(p.config.WebhookSecret, p.catalog, p.log)
}
