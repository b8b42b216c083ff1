// render: templates of a Helm chart as helm renders them, for machines without helm.
//
//	render DIRECTORY <CONTEXTS
//
// CONTEXTS is a JSON array of objects with Values, Release and Chart. The output is a JSON array with
// an object for each: the text of each file by its name, or an error. Of helm's own functions, those
// that the chart uses are here. With Debian's golang-github-masterminds-sprig-dev and
// golang-k8s-sigs-yaml-dev:
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run render.go packaging/kubernetes/chart <contexts
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type result struct {
	Files map[string]string `json:"files,omitempty"`
	Error string            `json:"error,omitempty"`
}

// What a value that is not there becomes, which helm removes.
const noValue = "<no value>"

func parse(directory string) (*template.Template, error) {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(directory, "templates", "*"))
	if err != nil {
		return nil, err
	}
	return all.ParseFiles(paths...)
}

func render(all *template.Template, context interface{}) result {
	files := map[string]string{}
	for _, each := range all.Templates() {
		if filepath.Ext(each.Name()) != ".yaml" && filepath.Ext(each.Name()) != ".txt" {
			continue
		}
		var text strings.Builder
		if err := each.Execute(&text, context); err != nil {
			return result{Error: err.Error()}
		}
		files[each.Name()] = strings.ReplaceAll(text.String(), noValue, "")
	}
	return result{Files: files}
}

func main() {
	log.SetFlags(0)
	all, err := parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var contexts []interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&contexts); err != nil {
		log.Fatal(err)
	}
	results := []result{}
	for _, context := range contexts {
		results = append(results, render(all, context))
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
