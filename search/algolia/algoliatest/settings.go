package algoliatest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// settings are an index's settings, and what is read of them.
type settings struct {
	values    map[string]any
	groups    [][]string // searchable attributes, best first
	camelCase []string
	facetOf   map[string]bool // attributes that filter; true when they are counted too
	numeric   []string        // attributes that numeric filters may name; nil for all
	ranking   []order
}

// An order is an attribute of the custom ranking.
type order struct {
	attribute string
	isDesc    bool
}

func newSettings(values map[string]any) settings {
	s := settings{values: values, facetOf: map[string]bool{}, camelCase: listOf(values, "camelCaseAttributes")}
	for _, entry := range listOf(values, "searchableAttributes") {
		_, entry = modifier(entry)
		var group []string
		for _, name := range strings.Split(entry, ",") {
			group = append(group, strings.TrimSpace(name))
		}
		s.groups = append(s.groups, group)
	}
	for _, entry := range listOf(values, "attributesForFaceting") {
		kind, name := modifier(entry)
		s.facetOf[name] = kind != "filterOnly"
	}
	for _, entry := range listOf(values, "numericAttributesForFiltering") {
		_, name := modifier(entry)
		s.numeric = append(s.numeric, name)
	}
	for _, entry := range listOf(values, "customRanking") {
		kind, name := modifier(entry)
		s.ranking = append(s.ranking, order{name, kind == "desc"})
	}
	return s
}

// modifier splits "unordered(content)".
func modifier(entry string) (kind, name string) {
	kind, rest, ok := strings.Cut(entry, "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return "", entry
	}
	return kind, strings.TrimSuffix(rest, ")")
}

func listOf(values map[string]any, name string) (list []string) {
	items, _ := values[name].([]any)
	for _, v := range items {
		if s, ok := v.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// maxUserData is the size of what an index keeps for its owner.
const maxUserData = 32_000

// checkSettings finds what the schema can't: modifiers that don't exist, and too
// much user data.
func checkSettings(values map[string]any) error {
	for name, kinds := range map[string][]string{
		"searchableAttributes":          {"", "unordered", "ordered"},
		"attributesForFaceting":         {"", "filterOnly", "searchable", "afterDistinct"},
		"numericAttributesForFiltering": {"", "equalOnly"},
		"customRanking":                 {"asc", "desc"},
		"camelCaseAttributes":           {""},
	} {
		for _, entry := range listOf(values, name) {
			kind, attribute := modifier(entry)
			if !slices.Contains(kinds, kind) || attribute == "" || strings.ContainsAny(attribute, "()") {
				return fmt.Errorf("settings.%s: %q is not valid", name, entry)
			}
		}
	}
	searchable := strings.Join(listOf(values, "searchableAttributes"), ",")
	for _, name := range listOf(values, "camelCaseAttributes") {
		if !strings.Contains(searchable, name) {
			return fmt.Errorf("settings.camelCaseAttributes: %q is not searchable", name)
		}
	}
	if data, err := json.Marshal(values["userData"]); err != nil || len(data) > maxUserData {
		return fmt.Errorf("settings.userData: too large")
	}
	return nil
}

// allows reports whether the settings let a filter term look at its attribute.
func (s settings) allows(t term) error {
	if t.isNumeric() {
		if s.numeric != nil && !slices.Contains(s.numeric, t.attribute) {
			return fmt.Errorf("filters: %s is not in numericAttributesForFiltering", t.attribute)
		}
		return nil
	}
	if _, ok := s.facetOf[t.attribute]; !ok {
		return fmt.Errorf("filters: %s is not in attributesForFaceting", t.attribute)
	}
	return nil
}

// facets returns the attributes that a query wants counted.
func (s settings) facets(body map[string]any) ([]string, error) {
	names := listOf(body, "facets")
	for _, name := range names {
		if !s.facetOf[name] {
			return nil, fmt.Errorf("facets: %s is not an attribute that is counted", name)
		}
	}
	return names, nil
}

// with returns the settings as a query overrides them.
func (s settings) with(body map[string]any) map[string]any {
	m := map[string]any{}
	maps.Copy(m, s.values)
	maps.Copy(m, body)
	return m
}
