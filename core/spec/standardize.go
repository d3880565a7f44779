package spec

// Standardize turns JSON with comments and trailing commas into JSON of the same
// lines and columns, nil when the file holds nothing else. It is for the files
// beside servers.json that people write in the same way. The error is a
// [*SyntaxError].
func Standardize(file []byte) ([]byte, error) {
	d, err := parseDocument(file)
	if err != nil || d.root == nil {
		return nil, err
	}
	d.root.Standardize()
	return d.root.Pack(), nil
}
