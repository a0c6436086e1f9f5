package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"browser-coordinator/coordinator/endpoint"
)

const (
	// endpointPlaceholder stands for the address, in the arguments of a program that
	// is started and in the values of its environment.
	endpointPlaceholder = "{cdp_endpoint}"
	// envEndpoint tells that program the address.
	envEndpoint = "BROWSER_COORDINATOR_CDP_ENDPOINT"
	// allowTokenFlag permits the secret token in those arguments.
	allowTokenFlag = "allow-token-in-arguments"
)

func addAllowToken(flags *pflag.FlagSet, allow *bool) {
	flags.BoolVar(allow, allowTokenFlag, false, "put the address in place of "+endpointPlaceholder+" in arguments also where it has the secret token, which every user of this machine can read there")
}

// childCommand tells a program that is started where the window's browser is: its
// arguments with the address, and its environment. Every user of the machine can
// read arguments, but only the same user the environment, so a token stands in
// arguments only where that is allowed.
func childCommand(given []string, workspace string, a endpoint.Addr, allowToken bool) (args, env []string, err error) {
	address := a.ClientURL()
	for _, arg := range given {
		if strings.Contains(arg, endpointPlaceholder) && a.RequiresToken && !allowToken {
			return nil, nil, wrongUse(`the address of the browser is not put in place of %[1]s in the arguments of %[2]s: it holds a secret token here, and every user of this machine can read arguments. Let the program read $%[3]s, which is set for it; or set the variable that it reads, and leave the argument out, as in PLAYWRIGHT_MCP_CDP_ENDPOINT=%[1]s for @playwright/mcp. --%[4]s permits it`,
				endpointPlaceholder, given[0], envEndpoint, allowTokenFlag)
		}
		args = append(args, strings.ReplaceAll(arg, endpointPlaceholder, address))
	}
	for _, variable := range os.Environ() {
		env = append(env, strings.ReplaceAll(variable, endpointPlaceholder, address))
	}
	return args, append(env, envEndpoint+"="+address, envWorkspace+"="+workspace), nil
}
