hs = {status = "Progressing", message = "waits for the operator"}
local is = {}
for _, condition in ipairs(obj.status ~= nil and obj.status.conditions or {}) do
  is[condition.type] = condition
end
if is.Verified ~= nil and is.Verified.status == "False" then
  hs = {status = "Degraded", message = is.Verified.message}
elseif is.Placed ~= nil and is.Placed.status == "True" then
  hs = {status = "Healthy", message = is.Placed.message}
elseif is.Placed ~= nil and (is.Placed.reason == "WaitingForPods" or
                             is.Placed.reason == "PodsGone") then
  hs = {status = "Progressing", message = is.Placed.message}
elseif is.Placed ~= nil then
  hs = {status = "Progressing", message = "cannot be placed yet: " .. (is.Placed.message or "")}
end
return hs
