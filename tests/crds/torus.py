"""The link of a network, and the torus of a Fabric."""

from schema import boolean, integer, label_key, level_name, list_of, object_of, quantity, rule, text


def link(description):
    return object_of(
        {
            "type": text("a known link type, or any name with bandwidthPerGPU"),
            "bandwidthPerGPU": quantity(1, "bytes per second of one GPU in one direction"),
            "oversubscriptionPercent": integer((1, 1000000), "", 100),
            "latencyNanoseconds": integer((0, 10**9), "time of a message apart from its bytes"),
        },
        description=description)


def torus_rules():
    each = "size(self.dimensions)"
    return [
        rule("!has(self.shapes) || size(self.shapes) == 0 || has(self.level)",
             "needs torus.level, the level whose domains the shapes name", ".shapes"),
        rule(f"!has(self.shapes) || self.shapes.all(s, size(s.sizes) == {each}"
             f" && (!has(s.wraps) || size(s.wraps) == 0 || size(s.wraps) == {each}))",
             "sizes and wraps must have one entry for each dimension", ".shapes"),
    ]


def torus():
    name = level_name("", ("node", "outside"))
    name["default"] = "torus"
    dimension = object_of(
        {
            "labelKey": label_key("a node label with the node's coordinate: 0, 1, ... size - 1"),
            "size": integer((1, 1024), "number of nodes along the dimension"),
            "wraps": boolean("whether the last node is linked with the first", True),
        },
        ["labelKey", "size"])
    shape = object_of(
        {
            "domains": list_of(text(shortest=1), 1024, "names of domains of torus.level", least=1,
                               kind="set"),
            "sizes": list_of(integer((1, 1024)), 3, "number of nodes along every dimension",
                             least=1),
            "wraps": list_of({"type": "boolean"}, 3, "whether the last node is linked with the"
                             " first, for every dimension; default: as torus.dimensions"),
        },
        ["domains", "sizes"])
    return object_of(
        {
            "name": name,
            "dimensions": list_of(
                dimension, 3, least=1,
                rules=[rule("self.all(a, self.exists_one(b, a.labelKey == b.labelKey))",
                            "label keys must differ")]),
            "level": level_name("each domain of this level is a torus; default: all nodes are one"
                                " torus",
                                ("node", "outside")),
            "shapes": list_of(
                shape, 64, "toruses of other sizes: they name domains of the level, which every"
                " domain is in at most once"),
            "link": link("link of one hop; default: an assumed link"),
        },
        ["dimensions"], "a torus or mesh of nodes beside the levels", rules=torus_rules())
