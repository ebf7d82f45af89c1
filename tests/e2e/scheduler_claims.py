"""Claims of the random gangs of scheduler_rules.py of devices that are no accelerators: network
cards, which kube-scheduler allocates.

No driver runs here: the rounds make the DeviceClasses and ResourceSlices that one makes.
"""

API, DRIVER = "resource.k8s.io/v1", "nic.example.com"
CARDS = ("rdma", "ethernet")
SPEEDS = (200, 400)
BROKEN = {"key": "nic.example.com/broken", "effect": "NoSchedule"}
CLAIM, TEMPLATE = "shared", "cards"
PLURALS = ("resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses")


def attribute(name):
    return f'device.attributes["{DRIVER}"].{name}'


def expressions(rng):
    kind, speed = rng.choice(CARDS), rng.choice(SPEEDS)
    return rng.choice((
        [], [],
        [f'{attribute("kind")} == "{kind}"'],
        [f'{attribute("kind")} != "{kind}"'],
        [f'{attribute("speed")} == {speed} || {attribute("kind")} == "{kind}"'],
        [f'!({attribute("speed")} == {speed}) && {attribute("kind")} in ["rdma", "ethernet"]'],
        [f'{attribute("speed")} == {speed}', f'{attribute("kind")} == "{kind}"'],
        [f'device.capacity["{DRIVER}"].memory.compareTo(quantity("2Gi")) >= 0']))


def selectors(texts):
    return [{"cel": {"expression": text}} for text in texts]


class Claims:
    """One round's objects to create, by plural."""

    def __init__(self, rng, nodes, space):
        self.rng, self.space = rng, space
        self.nodes = [node["metadata"]["name"] for node in nodes]
        self.objects = {plural: [] for plural in PLURALS}
        self.holders = []  # pods that have devices; kube-scheduler binds them
        self.whole = {}  # node -> cards that are not broken
        for name in ("nic", "other"):
            texts = [f'device.driver == "{DRIVER}"', *(expressions(rng) if name == "other" else [])]
            self.add("deviceclasses", "DeviceClass", name, {"selectors": selectors(texts)}, "")
        for node in self.nodes:
            if rng.random() < 0.75:
                self.slice(node, rng.randrange(5), {"nodeName": node})
        if rng.random() < 0.15:  # cards that every node reaches
            self.slice("pool", rng.choice((1, 2)), {"allNodes": True})

    def add(self, plural, kind, name, spec, space):
        meta = {"name": name, **({"namespace": space} if space else {})}
        self.objects[plural].append(
            {"apiVersion": API, "kind": kind, "metadata": meta, "spec": spec})

    def slice(self, name, count, where):
        devices = [self.device(f"card-{card}") for card in range(count)]
        self.whole[name] = sum("taints" not in one for one in devices)
        self.add("resourceslices", "ResourceSlice", f"{name}-cards",
                 {"driver": DRIVER, "devices": devices, **where,
                  "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}, "")

    def device(self, name):
        rng = self.rng
        device = {"name": name, "attributes": {"kind": {"string": rng.choice(CARDS)},
                                               "speed": {"int": rng.choice(SPEEDS)}},
                  "capacity": {"memory": {"value": rng.choice(("1Gi", "2Gi", "4Gi"))}}}
        if rng.random() < 0.1:
            device["taints"] = [BROKEN]
        return device

    def request(self, plain=False):
        rng = self.rng
        request = {"deviceClassName": "nic" if plain else rng.choice(("nic", "other"))}
        if not plain and rng.random() < 0.3:
            request["selectors"] = selectors(expressions(rng))
        if not plain and rng.random() < 0.15:
            request["allocationMode"] = "All"
        elif not plain:
            request["count"] = rng.choice((1, 1, 2))
        if rng.random() < 0.1:
            request["tolerations"] = [{"key": BROKEN["key"], "operator": "Exists"}]
        return request

    def devices(self):
        rng, requests = self.rng, []
        for number in range(rng.choice((1, 1, 1, 2))):
            one = {"name": f"request-{number}"}
            if rng.random() < 0.2:
                one["firstAvailable"] = [{"name": f"choice-{choice}", **self.request()}
                                         for choice in range(2)]
            else:
                one["exactly"] = self.request()
            requests.append(one)
        return {"devices": {"requests": requests}}

    def one_card(self):
        return {"devices": {"requests": [{"name": "card", "exactly": self.request(plain=True)}]}}

    @staticmethod
    def use(spec, **claim):
        claims = spec.setdefault("resourceClaims", [])
        claims.append({"name": f"claim-{len(claims)}", **claim})

    def hold(self, number, **claim):
        """A pod with a card, on a node that has one left."""
        free = [node for node in self.nodes if self.whole.get(node, 0) > 0]
        if not free:
            return
        node = self.rng.choice(free)
        self.whole[node] -= 1
        # Never more than this, or another pod's card might be broken.
        spec = {"containers": [{"name": "main", "image": "registry.example/none:1"}],
                "nodeSelector": {"kubernetes.io/hostname": node},
                "tolerations": [{"operator": "Exists"}]}
        self.use(spec, **claim)
        self.holders.append({"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
            "name": f"holder-{number}", "namespace": self.space, "labels": {"holds": "yes"}}})

    def add_to(self, template):
        """Gives the gang's template claims, and some cards to others."""
        spec, rng = template["spec"], self.rng
        one = {"spec": self.one_card()}
        self.add("resourceclaimtemplates", "ResourceClaimTemplate", "one", one, self.space)
        for number in range(rng.randrange(len(self.nodes))):
            self.hold(number, resourceClaimTemplateName="one")
        if rng.random() < 0.8:
            self.add("resourceclaimtemplates", "ResourceClaimTemplate", TEMPLATE,
                     {"spec": self.devices()}, self.space)
            self.use(spec, resourceClaimTemplateName=TEMPLATE)
        if rng.random() < 0.3:  # one claim of all workers
            self.add("resourceclaims", "ResourceClaim", CLAIM, self.one_card(), self.space)
            self.use(spec, resourceClaimName=CLAIM)
            if rng.random() < 0.7:
                self.hold("shared", resourceClaimName=CLAIM)
