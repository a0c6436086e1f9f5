// Package catalog describes the parameters of tools, and brings the arguments of calls into the
// form that the tools take.
package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Parameter is an argument of a tool, or a member of one. Its JSON form is its schema, as
// far as agents see it.
type Parameter struct {
	Name string
	// Type is that of JSON schema: string, integer, number, boolean, array or object.
	Type string
	// Description is what an agent must know beyond the name; it may be empty.
	Description string
	// Values are all that the parameter may have; empty: any.
	Values []string
	// Items are the elements of an array.
	Items *Parameter
	// Members are those of an object, in the order in which the code has them.
	Members  []Parameter
	Required bool
	// Open: an object may have other members.
	Open bool
	// Properties are some of those below.
	Properties []string
}

// The properties of parameters.
const (
	Unlisted = "unlisted" // calls may have it, and the list does not show it
	Subject  = "subject"  // it names what a call is about, for a report to the user
	Multiple = "multiple" // the text may also be a list of texts
	Spelled  = "spelled"  // what it is about names the members of an object, which are not listed
	Encoded  = "encoded"  // what is no text stands for its JSON
	File     = "file"     // it names files of the user
	Script   = "script"   // it is a script that the call runs
)

// Is reports whether the parameter has a property.
func (p *Parameter) Is(property string) bool { return slices.Contains(p.Properties, property) }

// Describe derives the parameters of a tool from the type of its arguments, a struct. Of a field:
//
//   - the tag json has the name; a parameter without omitempty is required
//   - about is for agents; without it they see the values that are allowed
//   - oneof has the values that are allowed
//   - is has its properties, with blanks between them
func Describe(arguments reflect.Type) Parameter { return describe(arguments) }

// Open is implemented by objects that may have members which their type does not name.
type Open interface{ Open() }

func describe(t reflect.Type) Parameter {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	open := reflect.PointerTo(t).Implements(reflect.TypeFor[Open]())
	if !open && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return Parameter{Type: "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return Parameter{Type: "string"}
	case reflect.Bool:
		return Parameter{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return Parameter{Type: "integer"}
	case reflect.Float64:
		return Parameter{Type: "number"}
	case reflect.Slice:
		items := describe(t.Elem())
		return Parameter{Type: "array", Items: &items}
	case reflect.Map:
		return Parameter{Type: "object", Open: true}
	case reflect.Struct:
		p := Parameter{Type: "object", Open: open}
		for _, field := range reflect.VisibleFields(t) {
			if name := field.Tag.Get("json"); name != "" && name != "-" {
				p.Members = append(p.Members, member(field))
			}
		}
		return p
	}
	panic(fmt.Sprintf("a parameter of the type %v", t))
}

func member(field reflect.StructField) Parameter {
	p := describe(field.Type)
	name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
	p.Name, p.Required, p.Description = name, option != "omitempty", field.Tag.Get("about")
	if p.Items != nil {
		p.Items.Name = name
	}
	p.Values = strings.Fields(field.Tag.Get("oneof"))
	if last := len(p.Values) - 1; p.Description == "" && last > 0 {
		p.Description = strings.Join(p.Values[:last], ", ") + " or " + p.Values[last]
	}
	p.Properties = strings.Fields(field.Tag.Get("is"))
	for _, property := range p.Properties {
		if !slices.Contains([]string{Unlisted, Subject, Multiple, Spelled, Encoded, File, Script}, property) {
			panic(fmt.Sprintf("%s: %q is no property of a parameter", name, property))
		}
	}
	return p
}

// Member is the member of that name; nil: the object has none.
func (p *Parameter) Member(name string) *Parameter {
	i := slices.IndexFunc(p.Members, func(m Parameter) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Members[i]
}

// MarshalJSON implements [json.Marshaler].
func (p Parameter) MarshalJSON() ([]byte, error) {
	listed := slices.DeleteFunc(slices.Clone(p.Members), func(m Parameter) bool {
		return m.Is(Unlisted) || p.Is(Spelled)
	})
	var required []string
	for _, m := range listed {
		if m.Required {
			required = append(required, m.Name)
		}
	}
	return Encode(struct {
		Description string     `json:"description,omitempty"`
		Open        bool       `json:"additionalProperties,omitempty"`
		Items       *Parameter `json:"items,omitempty"`
		Properties  properties `json:"properties,omitempty"`
		Required    []string   `json:"required,omitempty"`
		Type        string     `json:"type"`
	}{p.Description, p.Open && len(listed) > 0, p.Items, listed, required, p.Type})
}

// properties are the members of an object, in their order.
type properties []Parameter

func (all properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, p := range all {
		schema, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], p.Name, schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Encode is json.Marshal without the escapes of HTML, which cost tokens.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
