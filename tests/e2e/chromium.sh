# A headless Chromium for tests that look at pages, as $WEFT_CHROMIUM, and a folder for the pictures
# that they take, $WEFT_SCREENSHOTS. Ends the script if there is none. Source it after lib.sh.
# shellcheck shell=bash
WEFT_CHROMIUM=''
for name in chromium chromium-browser google-chrome chromium-headless-shell; do
  WEFT_CHROMIUM=$(command -v "$name") && break
done
if [ -z "$WEFT_CHROMIUM" ]; then
  echo "NOT RUN: no Chromium to look at the page with" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi
# Pictures are kept, to be looked at.
WEFT_SCREENSHOTS=${WEFT_SCREENSHOTS:-$(dirname "$WEFT")/../screenshots}
mkdir -p "$WEFT_SCREENSHOTS"
export WEFT_CHROMIUM WEFT_SCREENSHOTS
