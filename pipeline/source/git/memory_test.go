package git

const childMode = "CODESAGE_GIT_TEST_CHILD"

func child(string) int { return 0 }
