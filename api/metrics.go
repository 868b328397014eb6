package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are those of the API. Labels come from fixed sets: routes, tool
// names, outcomes.
type metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
}

// newMetrics registers the metrics; a nil registry gives an own one.
func newMetrics(registry *prometheus.Registry) *metrics {
	if registry == nil {
		registry = prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	m := &metrics{
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "codesage_http_request_seconds", Help: "HTTP requests by route, method and status.",
			Buckets: prometheus.DefBuckets,
		}, []string{"route", "method", "status"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "codesage_tool_call_seconds", Help: "Tool calls by tool and outcome: ok, refused, invalid or error.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"tool", "outcome"}),
	}
	registry.MustRegister(m.requests, m.calls)
	return m
}

// request counts a request. A path without a route has an empty one.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// call counts a tool call.
func (m *metrics) call(tool, outcome string, took time.Duration) {
	m.calls.WithLabelValues(tool, outcome).Observe(took.Seconds())
}

// showMetrics answers in Prometheus' text format.
func (s *server) showMetrics(c *gin.Context) { s.metrics.handler.ServeHTTP(c.Writer, c.Request) }
