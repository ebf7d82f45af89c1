module weft.dev/tests/nodes/pause

go 1.26.0
