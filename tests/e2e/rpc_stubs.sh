# Sourced: Python's gRPC and stubs of proto/weft/v1, for the scripts that follow.
root=${WEFT_SOURCE_DIR:-$here/../..}
packages=$("$root/tests/support/python_packages.sh" "$here/rpc_packages.txt") ||
  fail 'the Python packages of tests/e2e/rpc_packages.txt cannot be had'
export PATH=$packages/bin:$PATH PYTHONPATH=$work/stubs
mkdir "$work/stubs"
python3 -m grpc_tools.protoc -I "$root/proto" --python_out="$work/stubs" \
  --grpc_python_out="$work/stubs" weft/v1/placement_service.proto
export WEFT_EXAMPLES=$root/deploy/examples/grpc
