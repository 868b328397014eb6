package parse

// markdown is the one language that is read without a grammar.
const markdown = "markdown"

// languages are the specs by language label, and tsx.
var languages = map[string]*once{
	"bash":       {spec: &bashSpec},
	"c":          {spec: &cSpec},
	"cpp":        {spec: &cppSpec},
	"csharp":     {spec: &csharpSpec},
	"elixir":     {spec: &elixirSpec},
	"go":         {spec: &goSpec},
	"java":       {spec: &javaSpec},
	"javascript": {spec: &javascriptSpec},
	"kotlin":     {spec: &kotlinSpec},
	"lua":        {spec: &luaSpec},
	"php":        {spec: &phpSpec},
	"python":     {spec: &pythonSpec},
	"ruby":       {spec: &rubySpec},
	"rust":       {spec: &rustSpec},
	"scala":      {spec: &scalaSpec},
	"swift":      {spec: &swiftSpec},
	"terraform":  {spec: &terraformSpec},
	"tsx":        {spec: &tsxSpec},
	"typescript": {spec: &typescriptSpec},
}
