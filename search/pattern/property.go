package pattern

import (
	"strings"
	"sync"
	"unicode"
)

// alphabetic is Unicode's property of that name.
var alphabetic = sync.OnceValue(func() runes { return of(unicode.L, unicode.Nl, unicode.Other_Alphabetic) })

// wordRunes is \w: letters, marks, digits, connectors and joiners.
var wordRunes = sync.OnceValue(func() runes {
	return alphabetic().or(of(unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control))
})

// wordTables writes \w briefly for the backtracking engine, which looks a
// character up faster in tables than in hundreds of ranges.
var wordTables = sync.OnceValue(func() string {
	const tables = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}`
	rest := wordRunes().without(of(unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc))
	return tables + classBody(rest)
})

func blank() runes { return of(unicode.Zs).or(single('\t')) }

func assigned() runes {
	return of(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}

func graph() runes { return assigned().without(of(unicode.White_Space, unicode.Cc, unicode.Cs)) }

func upper() runes { return of(unicode.Lu, unicode.Other_Uppercase) }

func lower() runes { return of(unicode.Ll, unicode.Other_Lowercase) }

// properties are those with names of their own, as regex's tables have them.
var properties = map[string]func() runes{
	"ALPHABETIC": alphabetic, "ALPHA": alphabetic,
	"ALNUM": func() runes { return alphabetic().or(of(unicode.Nd)) },
	"WORD":  wordRunes,
	"BLANK": blank, "HORIZSPACE": blank,
	"SPACE":      func() runes { return of(unicode.White_Space) },
	"WHITESPACE": func() runes { return of(unicode.White_Space) },
	"DIGIT":      func() runes { return of(unicode.Nd) },
	"PUNCT":      func() runes { return of(unicode.P) },
	"XDIGIT":     func() runes { return of(unicode.Nd, unicode.Hex_Digit) },
	"UPPER":      upper, "UPPERCASE": upper,
	"LOWER": lower, "LOWERCASE": lower,
	"CNTRL": func() runes { return of(unicode.Cc) },
	"GRAPH": graph,
	"PRINT": func() runes { return graph().or(blank()).without(of(unicode.Cc)) },
	"ANY":   func() runes { return runes{0, maxRune} },
	"ASCII": func() runes { return ascii },
	// LC and L& are the cased letters.
	"LC": casedLetters, "L&": casedLetters, "CASEDLETTER": casedLetters,
	"ASSIGNED": assigned,
	"CN":       func() runes { return assigned().not() }, "UNASSIGNED": func() runes { return assigned().not() },
	"POSIXALNUM":  func() runes { return alphabetic().or(runes{'0', '9'}) },
	"POSIXDIGIT":  func() runes { return runes{'0', '9'} },
	"POSIXXDIGIT": func() runes { return of(unicode.ASCII_Hex_Digit) },
	"POSIXPUNCT":  func() runes { return of(unicode.S).without(alphabetic()).or(of(unicode.P)) },
}

func casedLetters() runes { return of(unicode.Lu, unicode.Ll, unicode.Lt) }

// longCategories are the long names of general categories.
var longCategories = map[string]string{
	"LETTER": "L", "UPPERCASELETTER": "Lu", "LOWERCASELETTER": "Ll", "TITLECASELETTER": "Lt", "MODIFIERLETTER": "Lm", "OTHERLETTER": "Lo",
	"MARK": "M", "NONSPACINGMARK": "Mn", "SPACINGMARK": "Mc", "ENCLOSINGMARK": "Me",
	"NUMBER": "N", "DECIMALNUMBER": "Nd", "LETTERNUMBER": "Nl", "OTHERNUMBER": "No",
	"PUNCTUATION": "P", "CONNECTORPUNCTUATION": "Pc", "DASHPUNCTUATION": "Pd", "OPENPUNCTUATION": "Ps", "CLOSEPUNCTUATION": "Pe",
	"INITIALPUNCTUATION": "Pi", "FINALPUNCTUATION": "Pf", "OTHERPUNCTUATION": "Po",
	"SYMBOL": "S", "MATHSYMBOL": "Sm", "CURRENCYSYMBOL": "Sc", "MODIFIERSYMBOL": "Sk", "OTHERSYMBOL": "So",
	"SEPARATOR": "Z", "SPACESEPARATOR": "Zs", "LINESEPARATOR": "Zl", "PARAGRAPHSEPARATOR": "Zp",
	"CONTROL": "Cc", "FORMAT": "Cf", "SURROGATE": "Cs", "PRIVATEUSE": "Co",
}

// standard folds a property name: case, blanks, hyphens and underscores don't
// count.
func standard(name string) string {
	return strings.ToUpper(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// property finds a set by name. kind is what stands before = or :, or empty.
// caseless is the set that the property stands for when case is ignored.
func property(kind, name string, posix bool) (set, caseless runes, ok bool) {
	name = standard(name)
	switch standard(kind) {
	case "":
	case "GC", "GENERALCATEGORY":
		set, ok = category(name)
		return set, withoutCase(name, set), ok
	case "SC", "SCRIPT":
		set, ok = table(unicode.Scripts, name)
		return set, set, ok
	default:
		return nil, nil, false
	}
	if posix && properties["POSIX"+name] != nil {
		name = "POSIX" + name
	}
	for _, n := range []string{name, strings.TrimPrefix(name, "IS")} {
		if set, ok = category(n); !ok {
			if set, ok = table(unicode.Scripts, n); !ok {
				set, ok = named(n)
			}
		}
		if ok {
			return set, withoutCase(n, set), true
		}
	}
	return nil, nil, false
}

// withoutCase is what a property means when case is ignored: each sort of cased
// letter stands for all of them.
func withoutCase(name string, set runes) runes {
	switch name {
	case "LU", "LL", "LT", "UPPERCASELETTER", "LOWERCASELETTER", "TITLECASELETTER":
		return casedLetters()
	case "UPPER", "LOWER", "UPPERCASE", "LOWERCASE":
		return casedLetters().or(upper()).or(lower())
	}
	return set
}

func category(name string) (runes, bool) {
	if long, ok := longCategories[name]; ok {
		return of(unicode.Categories[long]), true
	}
	if len(name) > 2 || name == "LC" || name == "CN" {
		return nil, false
	}
	if name == "C" {
		return of(unicode.C).or(assigned().not()), true
	}
	return table(unicode.Categories, name)
}

func named(name string) (runes, bool) {
	if make, ok := properties[name]; ok {
		return make(), true
	}
	return table(unicode.Properties, name)
}

// table finds a set in one of package unicode's maps by its folded name.
func table(tables map[string]*unicode.RangeTable, name string) (runes, bool) {
	for n, t := range tables {
		if standard(n) == name {
			return of(t), true
		}
	}
	return nil, false
}
