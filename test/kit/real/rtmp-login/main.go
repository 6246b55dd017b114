// Command rtmp-login is an RTMP server that asks for a user name and password, and a client that has them. MediaMTX uses the same library.
//
//	rtmp-login serve ADDRESS USER PASSWORD   accepts each publish, and prints its URL
//	rtmp-login publish URL                   rtmp://USER:PASSWORD@HOST:PORT/APP#KEY; fails when the server refuses it
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"

	"github.com/bluenviron/gortmplib"
)

func serve(conn net.Conn, user, password string) error {
	defer conn.Close()
	server := &gortmplib.ServerConn{RW: conn}
	if err := server.Initialize(); err != nil {
		return err
	}
	if err := server.AcceptConnIfCredentialsMatch(user, password); err != nil {
		return err
	}
	if err := server.AcceptAction(); err != nil {
		return err
	}
	fmt.Println(server.URL)
	_, err := io.Copy(io.Discard, conn)
	return err
}

func listen(address, user, password string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := serve(conn, user, password); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
}

func publish(to string) error {
	parsed, err := url.Parse(to)
	if err != nil {
		return err
	}
	client := &gortmplib.Client{URL: parsed, Publish: true}
	if err := client.Initialize(context.Background()); err != nil {
		return err
	}
	client.Close()
	return nil
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "serve":
		return listen(args[1], args[2], args[3])
	case len(args) == 2 && args[0] == "publish":
		return publish(args[1])
	default:
		return fmt.Errorf("no such command")
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
