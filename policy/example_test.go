package policy_test

import (
	"context"
	"fmt"

	"browser-coordinator/policy"
)

// user is one who allows input, and nothing else.
type user struct{}

func (user) Access() (policy.State, <-chan struct{}) {
	return policy.State{Mode: policy.ModeAsk}, nil
}

func (user) Ask(_ context.Context, q policy.Question) (policy.Answer, error) {
	return policy.Answer{Allow: q.Operation.Category == policy.Input}, nil
}

// The user of a window is asked about an agent's mutating calls.
func ExampleEnforcer_Permit() {
	enforcer := policy.NewEnforcer(user{})
	agent := policy.Actor{Kind: policy.Agent, ID: "1", Name: "claude-code"}
	for _, operation := range []policy.Operation{
		{Name: "browser_snapshot", Class: policy.ReadOnly},
		{Name: "browser_click", Class: policy.Mutating, Category: policy.Input},
		{Name: "browser_evaluate", Class: policy.Mutating, Category: policy.Script},
	} {
		q := policy.Question{Actor: agent, Operation: operation}
		_, err := enforcer.Permit(context.Background(), q)
		fmt.Println(operation.Name, err)
	}
	// Output:
	// browser_snapshot <nil>
	// browser_click <nil>
	// browser_evaluate browser_evaluate refused: the access mode is "ask", and the user did not allow it.
}

// A client's commands are decided without a question: by the list in clientview.txt, or by the
// short list of those that would end the browser.
func ExampleDecideCommand() {
	for _, mode := range []policy.Mode{policy.ModeView, policy.ModeFull} {
		for _, method := range []string{"DOM.getDocument", "Page.reload", "Browser.close"} {
			d := policy.DecideCommand(policy.Permission{Mode: mode}, method, nil)
			fmt.Println(mode, method, d.Outcome == policy.Allow)
		}
	}
	// Output:
	// view DOM.getDocument true
	// view Page.reload false
	// view Browser.close false
	// full DOM.getDocument true
	// full Page.reload true
	// full Browser.close false
}

// A list of origins limits the addresses that agents may open and read.
func ExampleOrigins() {
	origins, err := policy.ParseOrigins([]string{"http://localhost:*", "*.example.com"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, address := range []string{"http://localhost:3000/", "https://shop.example.com/", "https://example.org/"} {
		fmt.Println(address, origins.Decide(address).Outcome == policy.Allow)
	}
	// Output:
	// http://localhost:3000/ true
	// https://shop.example.com/ true
	// https://example.org/ false
}
