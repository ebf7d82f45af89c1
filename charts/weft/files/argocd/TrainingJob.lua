hs = {status = "Progressing", message = "waits for the operator"}
if obj.status == nil then
  return hs
end
local seen = obj.status.observedGeneration or 0  -- 0: never looked at but for its suspension
if seen > 0 and seen < (obj.metadata.generation or 0) then
  return hs
end
local is = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  is[condition.type] = condition
end
local function says(kind, value)
  return is[kind] ~= nil and is[kind].status == value
end
if says("Complete", "True") then
  hs = {status = "Healthy", message = is.Complete.message}
elseif says("Failed", "True") then
  hs = {status = "Degraded", message = is.Failed.message}
elseif says("Accepted", "False") then
  hs = {status = "Degraded", message = is.Accepted.message}
elseif says("Suspended", "True") then
  hs = {status = "Suspended", message = is.Suspended.message}
elseif says("PodsReady", "True") then
  hs = {status = "Healthy", message = is.PodsReady.message}
elseif is.Placed ~= nil then
  hs = {status = "Progressing", message = is.Placed.message}
end
return hs
