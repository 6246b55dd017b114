// Command enforcer enforces NetworkPolicies on a node whose network does not. It is kube-router's firewall without the
// router and the proxy, which are most of kube-router's compile time.
package main

import (
	"flag"
	"log"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	config := options.NewKubeRouterConfig()
	services := flag.String("services", "", "addresses of Services, e.g. 10.96.0.0/16")
	flag.StringVar(&config.Kubeconfig, "kubeconfig", "", "kubeconfig")
	flag.StringVar(&config.HostnameOverride, "node", "", "name of the node")
	flag.Parse()
	config.ClusterIPCIDRs = []string{*services}
	config.NodePortRange = "30000-32767"
	config.EnableIPv4, config.EnableIPv6 = true, false
	config.IPTablesSyncPeriod = 30 * time.Second
	if err := run(config); err != nil {
		log.Fatal(err)
	}
}

func run(config *options.KubeRouterConfig) error {
	rest, err := clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	forever := make(chan struct{})
	factory.Start(forever)
	factory.WaitForCacheSync(forever)

	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, namespaces, &mutex, tables, sets)
	if err != nil {
		return err
	}
	if _, err = pods.AddEventHandler(controller.PodEventHandler); err != nil {
		return err
	}
	if _, err = namespaces.AddEventHandler(controller.NamespaceEventHandler); err != nil {
		return err
	}
	if _, err = policies.AddEventHandler(controller.NetworkPolicyEventHandler); err != nil {
		return err
	}
	beats := make(chan *healthcheck.ControllerHeartbeat, 10)
	go func() {
		for range beats {
		}
	}()
	var group sync.WaitGroup
	group.Add(1)
	controller.Run(beats, forever, &group)
	return nil
}
