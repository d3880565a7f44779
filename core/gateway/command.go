package gateway

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// ErrUsage says that the arguments of `drawbridge client` are wrong.
var ErrUsage = errors.New("use: drawbridge client add [--servers A,B] [--ask-in-client] NAME | list | rm NAME")

// Command runs `drawbridge client`. A new client's token is written once, with the URL
// to connect to. The error is [ErrUsage] or that of [Clients].
func Command(c *Clients, args []string, url string, w io.Writer) error {
	if len(args) == 0 {
		return ErrUsage
	}
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var a Access
	servers := flags.String("servers", "", "")
	flags.BoolVar(&a.AskInClient, "ask-in-client", false, "")
	if flags.Parse(args[1:]) != nil {
		return ErrUsage
	}
	if *servers != "" {
		a.Servers = strings.Split(*servers, ",")
	}
	switch {
	case args[0] == "add" && flags.NArg() == 1:
		token, err := c.Add(flags.Arg(0), a)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "URL    %s\nToken  %s\n\nThe token is shown this once. The client sends it as\nAuthorization: Bearer TOKEN.\n", url, token)
		return err
	case args[0] == "list" && len(args) == 1:
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "CLIENT\tSERVERS\tASKS\tCREATED\tLAST SEEN")
		for _, x := range c.List() {
			see, asks, seen := "all", "here", "-"
			if x.Servers != nil {
				see = strings.Join(x.Servers, ", ")
			}
			if x.AskInClient {
				asks = "in the client"
			}
			if !x.LastSeen.IsZero() {
				seen = x.LastSeen.Format("2006-01-02 15:04")
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", x.Name, see, asks, x.Created.Format("2006-01-02"), seen)
		}
		return tw.Flush()
	case args[0] == "rm" && flags.NArg() == 1:
		return c.Revoke(flags.Arg(0))
	}
	return ErrUsage
}
