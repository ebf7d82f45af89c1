#include "operator/cli/serve_map.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "operator/cli/live_view.h"
#include "operator/cli/session.h"
#include "operator/http/server.h"
#include "operator/program/map_page.h"
#include "operator/run/executor.h"

namespace weft::cli {

int ServeMap(const MapArguments& arguments) {
  const InputArguments& input = arguments.input;
  if (!input.live() || !input.files.empty()) {
    return Fail(
        Invalid("--serve: needs a live cluster: add --cluster or --context, and leave out -f"));
  }
  // The page has no authentication and shows what its user may see.
  if (!http::IsLoopback(arguments.serve)) {
    return Fail(Invalid("--serve: other machines could reach \"" + arguments.serve +
                        "\"; use 127.0.0.1:PORT"));
  }
  const auto view = OpenLiveView({input.kubeconfig, input.context}, Kinds::kDecisions);
  if (!view) return Fail(view.error());
  program::MapPage page(run::SystemExecutor());
  http::ServerOptions server;
  server.address = arguments.serve;
  server.slow["/"] = [&](const http::Request&) {
    return http::Reply{200, page.Show([&] { return (*view)->SnapshotCluster(); }),
                       "text/html; charset=utf-8"};
  };
  const auto opened = http::Serve(std::move(server));
  if (!opened) return Fail(opened.error());
  std::cerr << "weft: the map is at http://" << arguments.serve << "/\n";
  while (true) pause();
}

}  // namespace weft::cli
