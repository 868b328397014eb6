package algolia

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/algolia/algoliasearch-client-go/v3/algolia/opt"
	client "github.com/algolia/algoliasearch-client-go/v3/algolia/search"

	"codesage/search"
	"codesage/trace"
)

// settingsKey is where the index's user data keep the version of its settings.
const settingsKey = "codesage_settings"

// Words of this length may have one typo; so long ones that have two don't exist.
const (
	oneTypoLetters  = 5
	twoTypoLetters  = 100
	maxFacetValues  = 1000 // the most that the service lists
	maxQueryLetters = search.MaxQueryBytes
)

// settings are those of the index. A change of them reaches an index at the
// next Open.
func settings() client.Settings {
	return client.Settings{
		SearchableAttributes:          opt.SearchableAttributes("entity_name", "signature,description", "file_path", "unordered(content)"),
		AttributesForFaceting:         opt.AttributesForFaceting("filterOnly(repository_id)", "language", "entity_type"),
		NumericAttributesForFiltering: opt.NumericAttributesForFiltering("repository_id", "run"),
		CustomRanking:                 opt.CustomRanking("asc(is_test)", "desc(rank_weight)"),
		CamelCaseAttributes:           opt.CamelCaseAttributes("entity_name"), // snake_case is always split
		QueryLanguages:                opt.QueryLanguages("en"),
		IndexLanguages:                opt.IndexLanguages("en"),
		IgnorePlurals:                 opt.IgnorePlurals(true),
		RemoveStopWords:               opt.RemoveStopWords(true),
		RemoveWordsIfNoResults:        opt.RemoveWordsIfNoResults("allOptional"),
		MinWordSizefor1Typo:           opt.MinWordSizefor1Typo(oneTypoLetters),
		MinWordSizefor2Typos:          opt.MinWordSizefor2Typos(twoTypoLetters),
		PaginationLimitedTo:           opt.PaginationLimitedTo(search.MaxHits),
		MaxValuesPerFacet:             opt.MaxValuesPerFacet(maxFacetValues),
	}
}

// settingsVersion changes whenever the settings do.
func settingsVersion(s client.Settings) (string, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode index settings: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// readSettings returns the settings of the index; none when it does not exist yet.
func (e *Engine) readSettings(ctx context.Context, tries int) (found client.Settings, err error) {
	err = e.call(ctx, "get settings", tries, func(ctx context.Context) (err error) {
		found, err = e.index.GetSettings(ctx)
		return err
	})
	if hasStatus(err, http.StatusNotFound) {
		return client.Settings{}, nil
	}
	return found, err
}

// settle makes sure, once, that the index has the settings.
func (e *Engine) settle(ctx context.Context, tries int) error {
	if err := lock(e.settling).wait(ctx); err != nil {
		return err
	}
	defer lock(e.settling).release()
	if e.isSet {
		return nil
	}
	want := settings()
	version, err := settingsVersion(want)
	if err != nil {
		return err
	}
	found, err := e.readSettings(ctx, tries)
	if err != nil {
		return err
	}
	if found.UserData.Get()[settingsKey] == version {
		e.isSet = true
		return nil
	}
	data := map[string]any{}
	for k, v := range found.UserData.Get() {
		data[k] = v
	}
	data[settingsKey] = version
	want.UserData = opt.UserData(data)
	var task int64
	err = e.call(ctx, "set settings", tries, func(ctx context.Context) error {
		res, err := e.index.SetSettings(want, ctx)
		task = res.TaskID
		return checkTask(task, err)
	})
	if err != nil {
		return err
	}
	if err := e.await(ctx, task); err != nil {
		return err
	}
	trace.Log(ctx, e.c.Log).Info("applied index settings", "index", e.c.IndexName, "version", version)
	e.isSet = true
	return nil
}
