package dashboard

// Login is the page that asks for the key.
type Login struct {
	To    string // the path to go on to
	Error string
}

func (Login) file() string  { return "login.html" }
func (Login) title() string { return "Log in" }
