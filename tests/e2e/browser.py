"""A headless Chromium, spoken to through pipes (Chrome DevTools Protocol)."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time

PATIENCE_SECONDS = 300
# Points at the first node of a map with a job: what the card says, and where it is.
POINT_AT_A_JOB = """(function(){
    var cell = document.querySelector('.map g g[data-job]').parentNode;
    cell.scrollIntoView({block: 'center', inline: 'center'});
    var at = cell.getBoundingClientRect();
    cell.querySelector('rect').dispatchEvent(new PointerEvent('pointerover',
        {bubbles: true, clientX: at.left + 5, clientY: at.top + 5}));
    var card = document.querySelector('.card'), box = card.getBoundingClientRect();
    return {text: card.textContent, left: box.left, top: box.top, right: box.right,
            bottom: box.bottom};
})()"""


class Browser:
    """One page; what goes wrong in it is in `errors`."""

    def __init__(self, program, profile):
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Chromium reads 3 and writes 4: neither end may lie there already.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (commands, answers)]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{high[0]} 4>&{high[1]}', "bash", program, "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (commands, answers, *high):
            os.close(fd)
        self.errors = []
        self._text, self._id, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self._text:
            ready = select.select([self._in], [], [], max(0, end - time.monotonic()))[0]
            read = os.read(self._in, 1 << 20) if ready else b""
            if not read:
                raise TimeoutError("Chromium does not answer")
            self._text += read
        message, self._text = self._text.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression,
                         returnByValue=True)["result"].get("value")

    def until(self, expression, wanted):
        """Waits until the expression has that value; the last value otherwise."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (value := self.value(expression)) != wanted:
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is {value!r}, not {wanted!r}")
            time.sleep(0.1)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def show_as(self, scheme="light", media="screen"):
        """With the reader's colour scheme, light or dark, on that medium."""
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, width, height):
        self.resize(width, height)
        self.save(path)

    def save(self, path, whole=False):
        """What is in sight, or the whole page."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                          **({"clip": self._page()} if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def _page(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def close(self):
        os.close(self._out)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
