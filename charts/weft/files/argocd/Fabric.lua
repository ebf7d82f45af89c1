hs = {status = "Progressing", message = "waits for the operator"}
if obj.status == nil then
  return hs
end
hs = {status = "Healthy", message = (obj.status.nodes or 0) .. " nodes"}
for _, condition in ipairs(obj.status.conditions or {}) do
  if condition.type == "Valid" and condition.status == "False" then
    hs = {status = "Degraded", message = condition.message}
  end
end
return hs
