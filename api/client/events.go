package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"

	"codesage"
)

// Event is a change of a repository.
type Event struct {
	Repository Repository
	Run        *Run // the newest run; nil when there is none
	Removed    bool // only the id of Repository is set
}

// Events streams the changes of one repository, or of all for id 0, beginning
// with how things are. The stream ends with an error, or without one when the
// server ended it or ctx is done. Nothing is sent before it is ranged over.
func (c *Client) Events(ctx context.Context, id codesage.RepositoryID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		path := eventsPath
		if id != 0 {
			path = repositoryPath(id) + "/events"
		}
		res, err := c.send(ctx, request{method: http.MethodGet, path: path, stream: true, idle: c.idle})
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			body, err := c.read(ctx, res, c.idle)
			if err == nil {
				err = newStatusError(res, body)
			}
			yield(Event{}, err)
			return
		}
		var run *Run // told just before its repository
		for raw, err := range readEvents(res.Body) {
			if ctx.Err() != nil {
				return
			}
			event := Event{Run: run, Removed: raw.name == "removed"}
			switch {
			case err != nil:
				err = c.transportError(err, c.idle)
			case raw.name == "run" && json.Unmarshal(raw.data, &run) == nil:
				continue
			case raw.name != "repository" && raw.name != "removed":
				continue
			case json.Unmarshal(raw.data, &event.Repository) != nil:
				err = &UnexpectedError{}
			}
			run = nil
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// event is one server-sent event.
type event struct {
	name string
	data []byte
}

// maxEvent is the longest line of a stream that is read.
const maxEvent = maxBody

// readEvents reads server-sent events until the stream ends. Comments and other
// fields than event and data are skipped.
func readEvents(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
		var e event
		for lines.Scan() {
			line := lines.Bytes()
			if len(line) == 0 {
				if e.data != nil && !yield(e, nil) {
					return
				}
				e = event{}
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.name = string(value)
			case "data":
				if e.data != nil {
					e.data = append(e.data, '\n')
				}
				e.data = append(e.data, value...)
			}
		}
		if err := lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
			yield(event{}, err)
		}
	}
}
