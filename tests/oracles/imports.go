package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strconv"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, lines.Text(), nil, parser.ImportsOnly)
		found := [][]any{}
		failed := 0
		if err != nil {
			failed = 1
		} else {
			for _, spec := range file.Imports {
				module, _ := strconv.Unquote(spec.Path.Value)
				name := path.Base(module)
				names := [][]string{{name, name}}
				if spec.Name != nil {
					names[0][1] = spec.Name.Name
				}
				if names[0][1] == "_" {
					names = [][]string{}
				} else if names[0][1] == "." {
					names = [][]string{{"*", "*"}}
				}
				found = append(found, []any{module, names, set.Position(spec.Pos()).Line - 1})
			}
		}
		text, _ := json.Marshal([]any{lines.Text(), failed, found})
		fmt.Println(string(text))
	}
}
