package parse

// markdown is the one language that is read without a grammar.
const markdown = "markdown"

// languages are the specs by language label, and tsx.
var languages = map[string]*once{
	"go":         {spec: &goSpec},
	"java":       {spec: &javaSpec},
	"javascript": {spec: &javascriptSpec},
	"python":     {spec: &pythonSpec},
	"tsx":        {spec: &tsxSpec},
	"typescript": {spec: &typescriptSpec},
}
