// Applies objects as kustomize-controller of Flux does, by its resource manager, and says of each what had to be done.
//
// Reads the YAML that kustomize built; the argument is the namespace. Prints `Kind/namespace/name action` for each object, where the
// action is `created`, `configured` or `unchanged`.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	log.SetLogger(zap.New())
	namespace := os.Args[1]
	config := must(clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")))
	objects := must(utils.ReadObjects(os.Stdin))
	for _, object := range objects {
		object.SetNamespace(namespace)
	}
	must(0, normalize.UnstructuredList(objects))
	manager := ssa.NewResourceManager(must(client.New(config, client.Options{})), nil, ssa.Owner{
		Field: "kustomize-controller",
		Group: "kustomize.toolkit.fluxcd.io",
	})
	manager.SetOwnerLabels(objects, "channel", namespace)
	changes := must(manager.ApplyAllStaged(context.Background(), objects, ssa.DefaultApplyOptions()))
	fmt.Println(changes)
}
