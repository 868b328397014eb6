-- comment
local json = require("cjson")
local http = require 'socket.http'
local M = {}

--[[ block
comment ]]
function M.start(a, b)
  local function helper() return "x" end
  return [[long
string]]
end

function M:stop() end
function M.sub.deep() end
local function private(x) end
function global() end
M.assigned = function(a) return 'y' end
local named = function() end
local obj = {
  method = function(self) end,
  ["quoted"] = function() end,
}
return M
