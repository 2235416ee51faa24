// Prints every name of the Go packages below a folder with the place of what it stands for.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := os.Args[1]
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	seen := map[string]bool{}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor") {
			return filepath.SkipDir
		}
		if pkg, err := build.ImportDir(path, 0); err == nil || pkg != nil {
			own := append(append([]string{}, pkg.GoFiles...), pkg.TestGoFiles...)
			check(out, fset, from, path, pkg.ImportPath, own, seen)
			check(out, fset, from, path, pkg.ImportPath+"_test", pkg.XTestGoFiles, seen)
		}
		return nil
	})
}

func check(out *bufio.Writer, fset *token.FileSet, from types.Importer, folder, name string, paths []string, seen map[string]bool) {
	files := []*ast.File{}
	for _, path := range paths {
		file, err := parser.ParseFile(fset, filepath.Join(folder, path), nil, 0)
		if err == nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	config := types.Config{Importer: from, Error: func(error) {}, FakeImportC: true}
	config.Check(name, fset, files, info)
	for ident, object := range info.Defs {
		if object != nil {
			line(out, fset, ident, object.Pos(), "d", seen)
		}
	}
	for ident, object := range info.Uses {
		switch object.(type) {
		case *types.PkgName, *types.Builtin, *types.Nil:
			continue
		}
		if object.Pos().IsValid() {
			line(out, fset, ident, object.Pos(), "u", seen)
		}
	}
}

func line(out *bufio.Writer, fset *token.FileSet, ident *ast.Ident, target token.Pos, role string, seen map[string]bool) {
	at, to := fset.Position(ident.Pos()), fset.Position(target)
	text := fmt.Sprintf("%s\t%d\t%d\t%s:%d:%d\t%s\n", at.Filename, at.Line, at.Column, to.Filename, to.Line, to.Column, role)
	if ident.Name != "_" && !seen[text] {
		seen[text] = true
		out.WriteString(text)
	}
}
