// Plays the device plug-in of a GPU vendor: tells the kubelet of devices that are not there.
//
//	device-plugin --count 8 [--unhealthy FILE]
//
// FILE holds the numbers of the unhealthy devices, separated by white space. It is read once a second.
// It ends when the kubelet removes its socket, as a kubelet does at its start: start it again then.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resource = "nvidia.com/gpu"
	endpoint = "nvidia-com-gpu.sock"
)

var (
	count     = flag.Int("count", 8, "number of devices")
	unhealthy = flag.String("unhealthy", "", "file with the numbers of the unhealthy devices")
)

type plugin struct {
	api.UnimplementedDevicePluginServer
}

func devices() []*api.Device {
	text, _ := os.ReadFile(*unhealthy) // without a file all are healthy
	ill := strings.Fields(string(text))
	all := make([]*api.Device, *count)
	for i := range all {
		device := &api.Device{ID: fmt.Sprintf("gpu-%d", i), Health: api.Healthy}
		if slices.Contains(ill, fmt.Sprint(i)) {
			device.Health = api.Unhealthy
		}
		all[i] = device
	}
	return all
}

func (plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// Tells all devices at first, and again when the health of one has changed.
func (plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	told := ""
	for stream.Context().Err() == nil {
		all := devices()
		if now := fmt.Sprint(all); now != told {
			if err := stream.Send(&api.ListAndWatchResponse{Devices: all}); err != nil {
				return err
			}
			told = now
		}
		time.Sleep(time.Second)
	}
	return nil
}

func (plugin) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range asked.ContainerRequests {
		visible := map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")}
		answer.ContainerResponses = append(answer.ContainerResponses,
			&api.ContainerAllocateResponse{Envs: visible})
	}
	return answer, nil
}

func serve(listener net.Listener) {
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, plugin{})
	log.Fatal(server.Serve(listener))
}

// Ends with the socket: a kubelet that has removed it would never reach this process.
func expectSocket(socket string) {
	if _, err := os.Stat(socket); err != nil {
		log.Fatal("the kubelet has removed the socket")
	}
}

// Until the kubelet listens. It may be one that starts meanwhile, and removes the socket first.
func register(socket string) {
	kubelet, err := grpc.NewClient("unix://"+api.KubeletSocket,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer kubelet.Close()
	request := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	for {
		_, err = api.NewRegistrationClient(kubelet).Register(context.Background(), request)
		if err == nil {
			return
		}
		time.Sleep(200 * time.Millisecond)
		expectSocket(socket)
	}
}

func main() {
	flag.Parse()
	socket := filepath.Join(api.DevicePluginPath, endpoint)
	os.Remove(socket) // of a plug-in that was killed
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	go serve(listener)
	register(socket)
	log.Printf("%s: %d devices", resource, *count)
	for {
		time.Sleep(500 * time.Millisecond)
		expectSocket(socket)
	}
}
