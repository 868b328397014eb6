package algoliatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// answer answers a request; the caller has the lock.
func (s *Server) answer(r *http.Request, q *Request, data []byte) answer {
	h := r.Header
	if h.Get("X-Algolia-Application-Id") != AppID || h.Get("X-Algolia-Api-Key") != AdminKey {
		return refuse(http.StatusForbidden, "Invalid Application-ID or API key")
	}
	if q.Route == "" || q.Index == "" {
		return refuse(http.StatusNotFound, "Path not found")
	}
	if len(data) > MaxBatchBytes {
		return refuse(http.StatusRequestEntityTooLarge, "Body too large")
	}
	for name := range r.URL.Query() {
		if q.Route != "settings" || r.Method == http.MethodGet && name != "getVersion" || r.Method == http.MethodPut && name != "forwardToReplicas" {
			return refuse(http.StatusBadRequest, "Unknown parameter: "+name)
		}
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := s.decode(r, q, data); err != nil {
			return refuse(http.StatusBadRequest, err.Error())
		}
	} else if len(bytes.TrimSpace(data)) > 0 {
		return refuse(http.StatusBadRequest, "this method has no body")
	}
	x := s.indexes[q.Index]
	switch q.Route + " " + r.Method {
	case "settings PUT":
		return s.setSettings(q)
	case "batch POST":
		return s.batch(q)
	case "index DELETE":
		return s.later(q.Index, "deletedAt", func() { delete(s.indexes, q.Index) })
	case "task GET":
		return s.task(x, path.Base(r.URL.Path))
	}
	if x == nil || !x.exists {
		return refuse(http.StatusNotFound, "Index "+q.Index+" does not exist")
	}
	switch q.Route {
	case "settings":
		return answer{status: http.StatusOK, body: x.settings.values}
	case "browse":
		return x.browse(q.Body, s.o.PageSize)
	}
	return x.query(q.Body)
}

// decode reads a body and holds it against the schema of its route.
func (s *Server) decode(r *http.Request, q *Request, data []byte) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return fmt.Errorf("Content-Type %q is not JSON", kind)
	}
	if err := json.Unmarshal(data, &q.Body); err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	if m := s.schemas[q.Route].check("body", q.Body); m != nil {
		return m
	}
	if _, ok := q.Body["params"]; ok && q.Route != "settings" {
		return fmt.Errorf("body.params: this fake takes parameters as an object only")
	}
	return nil
}

// at returns an index that may not exist yet.
func (s *Server) at(name string) *store {
	x := s.indexes[name]
	if x == nil {
		x = newStore()
		s.indexes[name] = x
	}
	return x
}

// later puts a change behind those of the index that are not done yet.
func (s *Server) later(index, when string, apply func()) answer {
	s.lastTask++
	x := s.at(index)
	x.tasks = append(x.tasks, task{id: s.lastTask, polls: s.o.TaskPolls, apply: apply})
	return answer{status: http.StatusOK, body: map[string]any{"taskID": s.lastTask, when: "2026-01-02T15:04:05.678Z"}}
}

// task brings the oldest change of the index nearer and reports on one.
func (s *Server) task(x *store, id string) answer {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || n > s.lastTask {
		return refuse(http.StatusBadRequest, "Unknown task "+id)
	}
	if x != nil && len(x.tasks) > 0 {
		if x.tasks[0].polls--; x.tasks[0].polls <= 0 {
			apply := x.tasks[0].apply
			x.tasks = x.tasks[1:]
			apply()
		}
	}
	status := "published"
	if x != nil {
		for _, t := range x.tasks {
			if t.id == n {
				status = "notPublished"
			}
		}
	}
	return answer{status: http.StatusOK, body: map[string]any{"status": status, "pendingTask": status != "published"}}
}

func (s *Server) setSettings(q *Request) answer {
	values := q.Body
	if err := checkSettings(values); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	x := s.at(q.Index)
	return s.later(q.Index, "updatedAt", func() { x.setSettings(values) })
}

// batch checks all operations before it takes any.
func (s *Server) batch(q *Request) answer {
	list := q.Body["requests"].([]any)
	if len(list) == 0 || len(list) > MaxBatch {
		return refuse(http.StatusBadRequest, fmt.Sprintf("a batch of %d operations", len(list)))
	}
	var ids []string
	var changes []record // nil for a deletion
	for i, item := range list {
		op := item.(map[string]any)
		body := op["body"].(map[string]any)
		id, ok := body["objectID"].(string)
		if !ok || id == "" {
			return refuse(http.StatusBadRequest, fmt.Sprintf("objectID is missing at the position %d", i))
		}
		switch op["action"] {
		case "addObject", "updateObject":
			if data, _ := json.Marshal(body); len(data) > MaxRecordBytes {
				return refuse(http.StatusBadRequest, fmt.Sprintf("Record at the position %d objectID=%s is too big size=%d/%d bytes.", i, id, len(data), MaxRecordBytes))
			}
			q.Adds = append(q.Adds, id)
			changes = append(changes, body)
		case "deleteObject":
			if len(body) != 1 {
				return refuse(http.StatusBadRequest, fmt.Sprintf("deleteObject at the position %d has more than an objectID", i))
			}
			q.Deletes = append(q.Deletes, id)
			changes = append(changes, nil)
		default:
			return refuse(http.StatusBadRequest, fmt.Sprintf("this fake has no action %v", op["action"]))
		}
		ids = append(ids, id)
	}
	x := s.at(q.Index)
	a := s.later(q.Index, "", func() { x.write(ids, changes) })
	body := a.body.(map[string]any)
	delete(body, "")
	body["objectIDs"] = ids
	return a
}
